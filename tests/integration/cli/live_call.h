#pragma once

#include <condition_variable>
#include <future>
#include <mutex>
#include <ostream>
#include <streambuf>
#include <string>
#include <vector>

#include "src/cli/command.h"

// Commands that wait, called in a thread of their own.
namespace smdebug::testing {

// Text that one thread writes while another waits for it. Thread-safe.
class SharedText final : public std::streambuf {
 public:
  // Waits until `text` has been written.
  void Await(const std::string& text) {
    std::unique_lock lock(mu_);
    grown_.wait(lock, [&] { return text_.find(text) != std::string::npos; });
  }
  std::string text() {
    const std::lock_guard lock(mu_);
    return text_;
  }

 protected:
  int_type overflow(int_type c) override {
    const char byte = traits_type::to_char_type(c);
    xsputn(&byte, 1);
    return c;
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    const std::lock_guard lock(mu_);
    text_.append(text, static_cast<size_t>(size));
    grown_.notify_all();
    return size;
  }

 private:
  std::mutex mu_;
  std::condition_variable grown_;
  std::string text_;
};

// A call of `smdebug` that goes on beside the test.
class LiveCall {
 public:
  explicit LiveCall(const std::vector<std::string>& args)
      : code_(std::async(std::launch::async, [this, args] {
          std::ostream out(&out_);
          std::ostream err(&err_);
          return cli::Main(args, {out, err});
        })) {}

  void AwaitOut(const std::string& text) { out_.Await(text); }
  void AwaitErr(const std::string& text) { err_.Await(text); }
  int Join() { return code_.get(); }
  std::string out() { return out_.text(); }
  std::string err() { return err_.text(); }

 private:
  SharedText out_;
  SharedText err_;
  std::future<int> code_;
};

}  // namespace smdebug::testing
