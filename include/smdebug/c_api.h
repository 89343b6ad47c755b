#ifndef SMDEBUG_C_API_H_
#define SMDEBUG_C_API_H_

/* The hook for any language that calls C.
 *
 * A call that can fail returns 0 if all is well and -1 if not, and
 * smdebug_last_error() says why. What fails after smdebug_open() harms
 * nothing: it is logged and counted in the run, and the return value may be
 * ignored. Strings are UTF-8 and end with a zero byte. Thread-safe, except that
 * a hook is closed once, by one thread, after all others are done with it. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The names of C. NOLINTBEGIN(readability-identifier-naming) */

typedef struct smdebug_hook smdebug_hook;

/* Of the library, such as "2.0.0". */
const char* smdebug_version(void);

/* What went wrong in this thread's last call that failed; empty if none did.
 * Valid until the thread's next call. */
const char* smdebug_last_error(void);

/* Opens a hook that saves to the folder `out_dir`. `config` is the text of a
 * JSON configuration, as docs/reference/config.md describes it; null or empty:
 * the default, which saves losses. An `out_dir` that is null or empty is taken
 * from it. Null if it is refused. */
smdebug_hook* smdebug_open(const char* out_dir, const char* config);

/* The same for process `rank` of a job of `count`. */
smdebug_hook* smdebug_open_worker(const char* out_dir, const char* config,
                                  int64_t rank, int64_t count);

/* Writes what is left, ends the run and frees the hook. Null is left alone. */
int smdebug_close(smdebug_hook* hook);

enum smdebug_mode {
  SMDEBUG_MODE_TRAIN = 1,
  SMDEBUG_MODE_EVAL = 2,
  SMDEBUG_MODE_PREDICT = 3,
  SMDEBUG_MODE_GLOBAL = 4
};

/* Steps from now on are of `mode`, one of smdebug_mode. */
int smdebug_set_mode(smdebug_hook* hook, int32_t mode);

/* Starts the next step, ending the current one. */
int smdebug_begin_step(smdebug_hook* hook);

/* Starts step number `step`, which is above that of the step before. */
int smdebug_begin_step_at(smdebug_hook* hook, int64_t step);

/* Ends the current step, so that its files appear, those of a small step up to
 * 20 ms later. */
int smdebug_end_step(smdebug_hook* hook);

/* Waits until everything of the steps that have ended can be read, at most
 * `milliseconds`; below 0: as long as the disk moves. 1 if it can, else 0. */
int smdebug_flush(smdebug_hook* hook, int64_t milliseconds);

/* The current step over all modes; -1 before the first. */
int64_t smdebug_step(const smdebug_hook* hook);

/* 1 if anything is saved at the current step, else 0. */
int smdebug_step_is_due(const smdebug_hook* hook);

/* 1 if smdebug_save(hook, name, ...) would save something now, else 0. */
int smdebug_is_due(smdebug_hook* hook, const char* name);

/* Element types, in the numbering of the files. */
enum smdebug_dtype {
  SMDEBUG_FLOAT32 = 1,
  SMDEBUG_FLOAT64 = 2,
  SMDEBUG_INT32 = 3,
  SMDEBUG_UINT8 = 4,
  SMDEBUG_INT16 = 5,
  SMDEBUG_INT8 = 6,
  SMDEBUG_COMPLEX64 = 8,
  SMDEBUG_INT64 = 9,
  SMDEBUG_BOOL = 10,
  SMDEBUG_BFLOAT16 = 14,
  SMDEBUG_UINT16 = 17,
  SMDEBUG_COMPLEX128 = 18,
  SMDEBUG_FLOAT16 = 19,
  SMDEBUG_UINT32 = 22,
  SMDEBUG_UINT64 = 23,
  SMDEBUG_FLOAT8_E5M2 = 24,
  SMDEBUG_FLOAT8_E4M3FN = 25
};

/* A tensor in the caller's memory, which is only read, and during the call. */
typedef struct smdebug_tensor {
  const void* data; /* The element with all indices 0. */
  int32_t dtype;    /* One of smdebug_dtype. */
  int32_t rank;
  const int64_t* shape;   /* `rank` numbers. */
  const int64_t* strides; /* As many, in elements; null: C order, no gaps. */
} smdebug_tensor;

/* Saves a tensor as the collections that match `name` ask, if any is due. */
int smdebug_save(smdebug_hook* hook, const char* name,
                 const smdebug_tensor* tensor);

/* Puts `name` into `collection`, made if missing, and saves the tensor if that
 * is due. */
int smdebug_save_to(smdebug_hook* hook, const char* name,
                    const smdebug_tensor* tensor, const char* collection);

/* Saves one number at any step, as "scalar/<name>". */
int smdebug_save_scalar(smdebug_hook* hook, const char* name, double value);

/* The same for a metric of the job, which is put into the collection
 * sm_metrics. */
int smdebug_save_metric(smdebug_hook* hook, const char* name, double value);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif /* SMDEBUG_C_API_H_ */
