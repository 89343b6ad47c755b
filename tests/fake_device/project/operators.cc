// Operators on the fake device: each runs as it does on the CPU, over the same
// memory, so that its results are those of the CPU bit by bit.
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <torch/library.h>

#include "counts.h"
#include "memory.h"
#include "streams.h"

namespace fake_device {
namespace {

bool IsOnDevice(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == kDevice;
}

// The memory of a device tensor, for the CPU.
at::Tensor HostView(const at::Tensor& tensor) {
  const c10::Storage& storage = tensor.storage();
  return OnHost(Borrow(storage.mutable_data(), storage.nbytes()), tensor);
}

// A device tensor over `storage` like `host`.
at::Tensor OnDevice(const c10::Storage& storage, const at::Tensor& host) {
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
      host.dtype());
  c10::TensorImpl* const impl = tensor.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(host.sizes(), host.strides(),
                              host.storage_offset());
  if (host.unsafeGetTensorImpl()->is_wrapped_number()) {
    impl->set_wrapped_number(true);
  }
  if (host.is_conj()) impl->_set_conj(true);
  if (host.is_neg()) impl->_set_neg(true);
  return tensor;
}

// The host waits until the device has done what it was asked to do before.
void AwaitCurrentStream(c10::DeviceIndex device) {
  Streams::Get().AwaitStream(Streams::Current(device));
}

// One call of an operator whose tensors are on the device.
class Call {
 public:
  Call(const c10::OperatorHandle& op, torch::jit::Stack* stack)
      : op_(op), stack_(*stack) {}

  void Run() {
    const size_t arguments = op_.schema().arguments().size();
    const size_t first = stack_.size() - arguments;
    for (size_t i = 0; i < arguments; ++i) {
      const c10::AliasInfo* const alias =
          op_.schema().arguments()[i].alias_info();
      writes_ = alias != nullptr && alias->isWrite();
      c10::IValue& argument = stack_[first + i];
      argument = Map(std::move(argument), &Call::Lend);
      if (argument.isDevice() && argument.toDevice().type() == kDevice) {
        Visit(argument.toDevice());
        argument = c10::Device(c10::DeviceType::CPU);
      }
    }
    if (NeedsValues(first)) {
      Add(Count::kValues);
      AwaitCurrentStream(device());
    }
    op_.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack_);
    for (const auto& [host, tensor] : lent_) TakeOver(*host, tensor);
    const size_t results = op_.schema().returns().size();
    for (size_t i = stack_.size() - results; i < stack_.size(); ++i) {
      stack_[i] = Map(std::move(stack_[i]), &Call::Return);
    }
  }

 private:
  c10::DeviceIndex device() const {
    return device_.value_or(Streams::CurrentDevice());
  }
  StreamKey stream() const { return Streams::Current(device()); }

  void Visit(const c10::Device& device) {
    if (!device_ && device.has_index()) device_ = device.index();
  }

  // Applies `change` to each tensor of a value.
  c10::IValue Map(c10::IValue value, at::Tensor (Call::*change)(at::Tensor)) {
    if (value.isTensor()) return (this->*change)(std::move(value).toTensor());
    if (value.isTensorList()) {
      c10::List<at::Tensor> changed;
      for (const at::Tensor& tensor : value.toTensorVector()) {
        changed.push_back((this->*change)(tensor));
      }
      return changed;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> changed;
      for (const std::optional<at::Tensor>& tensor :
           value.toOptionalTensorVector()) {
        changed.push_back(tensor ? std::optional((this->*change)(*tensor))
                                 : std::nullopt);
      }
      return changed;
    }
    return value;
  }

  // For the CPU, for the time of the call. Tensors that share memory on the
  // device share what they lend.
  at::Tensor Lend(at::Tensor tensor) {
    if (!IsOnDevice(tensor)) return tensor;
    Visit(tensor.device());
    c10::Storage& host = hosts_[tensor.storage().unsafeGetStorageImpl()];
    if (!host) {
      host = Borrow(tensor.storage().mutable_data(), tensor.storage().nbytes());
      devices_.emplace(host.unsafeGetStorageImpl(), tensor.storage());
    }
    if (const auto block = BlockOf(tensor.storage())) {
      writes_ ? Streams::Get().Write(*block, stream())
              : Streams::Get().Read(*block, stream());
    }
    at::Tensor lent = OnHost(host, tensor);
    lent_.emplace_back(lent.unsafeGetTensorImpl(), tensor);
    kept_.push_back(lent);
    return lent;
  }

  // What the call has changed of a tensor other than its values.
  void TakeOver(c10::TensorImpl& host, const at::Tensor& tensor) {
    const c10::Storage& storage = tensor.storage();
    if (host.storage().data() != storage.data()) {  // It has grown.
      const size_t bytes = host.storage().nbytes();
      storage.set_data_ptr_noswap(TakeMemory(host.storage(), storage.device()));
      storage.unsafeGetStorageImpl()->set_nbytes(bytes);
      NoteWrite(storage);
    }
    if (host.sizes() != tensor.sizes() || host.strides() != tensor.strides() ||
        host.storage_offset() != tensor.storage_offset()) {
      tensor.unsafeGetTensorImpl()->set_sizes_and_strides(
          host.sizes(), host.strides(), host.storage_offset());
    }
  }

  // The device tensor of a result: an argument, a view of one, or a new one.
  at::Tensor Return(at::Tensor result) {
    if (!result.defined() || !result.has_storage()) return result;
    for (const auto& [host, tensor] : lent_) {
      if (host == result.unsafeGetTensorImpl()) return tensor;
    }
    c10::StorageImpl* const host = result.storage().unsafeGetStorageImpl();
    auto found = devices_.find(host);
    if (found == devices_.end()) {
      const c10::Device place(kDevice, device());
      const size_t bytes = result.storage().nbytes();
      c10::Storage storage(c10::Storage::use_byte_size_t(), bytes,
                           TakeMemory(result.storage(), place),
                           c10::GetAllocator(kDevice), /*resizable=*/true);
      NoteWrite(storage);
      found = devices_.emplace(host, std::move(storage)).first;
    }
    return OnDevice(found->second, result);
  }

  void NoteWrite(const c10::Storage& storage) {
    if (const auto block = BlockOf(storage)) {
      Streams::Get().Write(*block, stream());
    }
  }

  // Whether the host has to know values: it is given some, or they say how
  // large the result is.
  bool NeedsValues(size_t first) const {
    static const auto& names =
        *new std::set<std::string>{"aten::_local_scalar_dense",
                                   "aten::equal",
                                   "aten::nonzero",
                                   "aten::masked_select",
                                   "aten::_unique",
                                   "aten::_unique2",
                                   "aten::unique_dim",
                                   "aten::unique_consecutive",
                                   "aten::bincount",
                                   "aten::repeat_interleave"};
    const std::string& name = op_.schema().name();
    if (names.contains(name)) return !lent_.empty();
    if (!name.starts_with("aten::index") &&
        !name.starts_with("aten::_index_put_impl")) {
      return false;
    }
    for (size_t i = first; i < stack_.size(); ++i) {
      if (!stack_[i].isOptionalTensorList()) continue;
      for (const std::optional<at::Tensor>& index :
           stack_[i].toOptionalTensorVector()) {
        const bool is_mask = index && (index->scalar_type() == at::kBool ||
                                       index->scalar_type() == at::kByte);
        if (is_mask) return !lent_.empty();
      }
    }
    return false;
  }

  const c10::OperatorHandle& op_;
  torch::jit::Stack& stack_;
  std::optional<c10::DeviceIndex> device_;
  bool writes_ = false;
  std::vector<std::pair<c10::TensorImpl*, at::Tensor>> lent_;
  std::vector<at::Tensor> kept_;  // What `lent_` points to.
  std::unordered_map<c10::StorageImpl*, c10::Storage> hosts_;
  std::unordered_map<c10::StorageImpl*, c10::Storage> devices_;
};

void RunOnCpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  Call(op, stack).Run();
}

void NoteAccess(const at::Tensor& tensor, bool writes) {
  const auto block = BlockOf(tensor.storage());
  if (block == nullptr) return;
  const StreamKey stream = Streams::Current(tensor.device().index());
  writes ? Streams::Get().Write(*block, stream)
         : Streams::Get().Read(*block, stream);
}

void CopyToHost(at::Tensor& to, const at::Tensor& from, bool non_blocking) {
  const auto bytes = static_cast<int64_t>(to.nbytes());
  const c10::DeviceIndex device = from.device().index();
  auto pinned = non_blocking ? PinnedAt(to.const_data_ptr()) : nullptr;
  if (pinned != nullptr) {
    Add(Count::kLateDeviceToHost);
    Add(Count::kLateDeviceToHostBytes, bytes);
    const c10::Storage& target = to.storage();
    Streams::Get().Enqueue(
        {.source = BlockOf(from.storage()),
         .target = std::move(pinned),
         .from = HostView(from),
         .to = OnHost(Borrow(target.mutable_data(), target.nbytes()), to),
         .snapshot = {}},
        Streams::Current(device));
    return;
  }
  Add(Count::kDeviceToHost);
  Add(Count::kDeviceToHostBytes, bytes);
  NoteAccess(from, /*writes=*/false);
  AwaitCurrentStream(device);
  to.copy_(HostView(from));
}

at::Tensor& Copy(at::Tensor& to, const at::Tensor& source, bool non_blocking) {
  if (to.numel() == 0) return to;
  const at::Tensor from = source.expand(to.sizes());
  if (!IsOnDevice(to)) {
    CopyToHost(to, from, non_blocking);
    return to;
  }
  if (!IsOnDevice(from)) {
    Add(Count::kHostToDevice);
    Add(Count::kHostToDeviceBytes, static_cast<int64_t>(to.nbytes()));
    NoteAccess(to, /*writes=*/true);
    HostView(to).copy_(from);
    return to;
  }
  // From one device to the other, both wait for the copy.
  Streams& streams = Streams::Get();
  const StreamKey source_stream = Streams::Current(from.device().index());
  const StreamKey target_stream = Streams::Current(to.device().index());
  streams.WaitIn(streams.Record(source_stream), target_stream);
  NoteAccess(from, /*writes=*/false);
  NoteAccess(to, /*writes=*/true);
  HostView(to).copy_(HostView(from));
  streams.WaitIn(streams.Record(target_stream), source_stream);
  return to;
}

c10::DeviceIndex IndexOrCurrent(std::optional<c10::Device> device) {
  return device && device->has_index() ? device->index()
                                       : Streams::CurrentDevice();
}

// Makes a device the current one for as long as it lives.
class OnIndex {
 public:
  explicit OnIndex(c10::DeviceIndex index) : before_(Streams::CurrentDevice()) {
    Streams::SetDevice(index);
  }
  ~OnIndex() { Streams::SetDevice(before_); }
  OnIndex(const OnIndex&) = delete;
  OnIndex& operator=(const OnIndex&) = delete;

 private:
  const c10::DeviceIndex before_;
};

at::Tensor Empty(at::IntArrayRef sizes, std::optional<at::ScalarType> type,
                 std::optional<at::Layout> /*layout*/,
                 std::optional<c10::Device> device,
                 std::optional<bool> /*pinned*/,
                 std::optional<at::MemoryFormat> format) {
  const OnIndex on(IndexOrCurrent(device));
  return at::detail::empty_generic(
      sizes, c10::GetAllocator(kDevice),
      c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
      c10::dtype_or_default(type), format);
}

at::Tensor EmptyStrided(at::IntArrayRef sizes, at::IntArrayRef strides,
                        std::optional<at::ScalarType> type,
                        std::optional<at::Layout> /*layout*/,
                        std::optional<c10::Device> device,
                        std::optional<bool> /*pinned*/) {
  const OnIndex on(IndexOrCurrent(device));
  return at::detail::empty_strided_generic(
      sizes, strides, c10::GetAllocator(kDevice),
      c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
      c10::dtype_or_default(type));
}

at::Tensor& SetStorage(at::Tensor& self, at::Storage storage, int64_t offset,
                       at::IntArrayRef sizes, at::IntArrayRef strides) {
  c10::TensorImpl* const impl = self.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(std::move(storage));
  if (strides.empty() && !sizes.empty()) {
    impl->set_storage_offset(offset);
    impl->set_sizes_contiguous(sizes);
  } else {
    impl->set_sizes_and_strides(sizes, strides, offset);
  }
  return self;
}

at::Tensor& SetWholeStorage(at::Tensor& self, at::Storage storage) {
  const auto size =
      static_cast<int64_t>(storage.nbytes() / self.dtype().itemsize());
  return SetStorage(self, std::move(storage), 0, {size}, {1});
}

at::Tensor& SetTensor(at::Tensor& self, const at::Tensor& source) {
  return SetStorage(self, source.storage(), source.storage_offset(),
                    source.sizes(), source.strides());
}

void RecordStream(at::Tensor& self, at::Stream stream) {
  if (const auto block = BlockOf(self.storage())) {
    Streams::Get().RecordStream(*block, {stream.device_index(), stream.id()});
  }
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&RunOnCpu>());
}

// It may be asked for, and changes nothing.
TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", &Empty);
  library.impl("empty_strided", &EmptyStrided);
  library.impl("copy_", &Copy);
  library.impl("record_stream", &RecordStream);
  library.impl("set_.source_Storage", &SetWholeStorage);
  library.impl("set_.source_Storage_storage_offset", &SetStorage);
  library.impl("set_.source_Tensor", &SetTensor);

  // PyTorch would put these together from others on a device that has no
  // kernel for them, and their results would be rounded in other ways.
  std::set<std::string> names = {"convolution", "convolution_backward"};
  for (const c10::OperatorName& op :
       c10::Dispatcher::singleton().getRegistrationsForDispatchKey(
           c10::DispatchKey::CPU)) {
    const auto handle = c10::Dispatcher::singleton().findOp(op);
    if (op.getNamespace() != "aten" ||
        handle->hasKernelForDispatchKey(c10::DispatchKey::PrivateUse1)) {
      continue;
    }
    const std::string name = op.name.substr(std::string("aten::").size());
    names.insert(op.overload_name.empty() ? name
                                          : name + "." + op.overload_name);
  }
  for (const std::string& name : names) {
    library.impl(name.c_str(),
                 torch::CppFunction::makeFromBoxedFunction<&RunOnCpu>());
  }
}

}  // namespace
}  // namespace fake_device
