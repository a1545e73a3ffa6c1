/*
 * fake.h - of a libnvidia-ml.so.1 that plays a script instead of asking a driver.
 *
 * It has the functions that llmtop calls, with the ABI of the real library (the
 * structures are written out from NVML's documentation; 64-bit Linux), so that the
 * whole path through go-nvml runs in tests and demonstrations without a GPU.
 *
 *   cc -std=gnu11 -O1 -fPIC -shared -fvisibility=hidden -pthread \
 *      -Wl,-soname,libnvidia-ml.so.1 -o libnvidia-ml.so.1 *.c
 *
 * The script is the file named by FAKE_NVML_SCRIPT, read when NVML is initialised
 * and no user is left from before. A line is
 *
 *   <seconds> <gpu|gpu/instance|*> <key> <value to the end of the line>
 *
 * and means: from then on, for that GPU (for that MIG instance of it, or for all), key
 * has that value. Lines starting with # are comments. The later line wins when two apply.
 * A reading without a line is not supported by the device, unless a default is named.
 * A number may grow: "5000+20" is 5000 at that time and 20 more each second.
 *
 *   count, driver, error.Init, hang.Init of the host (gpu *)
 *   waits                                seconds: there time stands still until somebody
 *                                        listens for events, and goes on then (gpu *)
 *   cuda                                 newest CUDA of the driver, 12090 (gpu *)
 *   name, uuid                           text
 *   pci                                  "0000:5e:00.0" (default 0000:<10 + index>:00.0)
 *   pci_device                           the board's PCI device number, 0x2335
 *   architecture, virtual                NVML's numbers
 *   cpus, nodes                          masks of the near CPUs and NUMA nodes, 64 bits
 *                                        a word, the lowest first: "ff 0 f"
 *   util, memory_util                    % (default 0)
 *   memory_total, memory_used, memory_reserved    bytes (default 0)
 *   power, power_limit, power_default    mW
 *   energy                               mJ
 *   pstate                               number
 *   sm_clock, memory_clock, sm_clock_max, memory_clock_max   MHz
 *   temperature, slowdown, margin        degrees
 *   throttle                             bits of the clocks-event reasons (default 0)
 *   ecc.corrected, ecc.uncorrected       memory errors since the driver was loaded
 *   remapped                             rows: "<corrected> <uncorrected> <pending> <failed>"
 *   retired_pending                      1: a page waits to be retired
 *   pcie_gen, pcie_gen_max, pcie_width, pcie_width_max, pcie_replays
 *   nvlink.<link>                        "down", "switch", "gpu <index>" (what it leads to)
 *   topology.<other gpu>                 NVML's level: 0, 10 … 50
 *   field.<id>, field.<id>.<scope|all>   a field value: "<number> [u16|u32|u64|i32|i64|f64]",
 *                                        or "error <code>" (default type u64, u32 for the
 *                                        fields that are so in NVML)
 *   gpm                                  0: the device has no GPM (default 1)
 *   gpm.<metric id>                      % or MiB/s, or nan; without it the metric is unsupported
 *   mig                                  1: divided, 0: could be
 *   gpu_instance                         number of a MIG instance: makes it exist
 *   slices                               of a MIG instance: "<gpu> <compute> <memory in MB>"
 *   xid                                  a critical error of that number happens, once
 *   error.EventSetWait, hang.EventSetWait    as below, of the host (gpu *)
 *   process.<list>.<pid>, process_use.<pid>   see processes.c
 *   process_use_grows                    1: one more sample than the driver counted first
 *   epoch                                seconds since 1970 when the script began (gpu *)
 *   error.<Function>, error.*            what the call (any call) of that GPU returns
 *   delay_ms.<Function>                  how long the call takes
 *   hang.<Function>                      1: the call comes back only when this is 0 again
 *
 * <Function> is the name without nvml, Device and Get: PowerUsage, MemoryInfo_v2.
 *
 * Time is seconds since initialisation, or, with FAKE_NVML_CLOCK, the number in the
 * file of that name, so that a test moves time by writing it.
 *
 * -DOLD_DRIVER leaves out what a driver of 2019 did not have; -DMINIMAL leaves out all
 * but start, end and the words for errors; -DNOT_NVML leaves out the start, as a wrong
 * library of the same name would; -DSTUB makes the one that CUDA brings to link with.
 */
#pragma once
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))
#ifdef NOT_NVML
#define START static __attribute__((unused))
#else
#define START API
#endif
#if defined OLD_DRIVER || defined MINIMAL
#define SINCE_2020 static __attribute__((unused)) /* a call that newer drivers have */
#else
#define SINCE_2020 API
#endif

enum {
	OK = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7,
	TIMEOUT = 10, MEMORY = 20, BAD_VERSION = 25, UNKNOWN = 999,
};
typedef int ret; /* nvmlReturn_t */

/* ---- script.c ---- */
enum { MAX_LINES = 2048, MAX_GPUS = 16, MAX_INSTANCES = 8, MAX_DEVICES = MAX_GPUS * (1 + MAX_INSTANCES) };

struct line { double at; int gpu; unsigned hash; char key[48], value[96]; };
extern struct line lines[MAX_LINES];
extern int line_count, users;

struct gpu { int index; };
extern struct gpu gpus[MAX_DEVICES]; /* the GPUs, then the MIG instances of each */
typedef struct { struct gpu *gpu; } device; /* nvmlDevice_t: one pointer */

/* instance is the place among gpus of MIG instance i of a GPU */
static inline int instance(int gpu, int i) { return MAX_GPUS + gpu * MAX_INSTANCES + i; }

double monotonic(void);
double now(void);
void somebody_listens(void);
void read_script(void);
const struct line *line_at(int gpu, const char *key, double t);
/* value of key for a GPU (-1: the host) at a time, NULL when the script has none */
const char *text_at(int gpu, const char *key, double t);
double number_at(int gpu, const char *key, double t, double otherwise);
double number(int gpu, const char *key);
/* enter plays what the script says of a call as such: delay, hang, error */
ret enter(device d, const char *function);
ret give_text(const char *from, char *to, unsigned size);
/* give_number answers with a key's number; without one it is not supported */
ret give_number(device d, const char *function, const char *key, unsigned *to);
ret give_long(device d, const char *function, const char *key, unsigned long long *to);

void started_the_stub(void); /* stub.c */

#define ENTER(d, function) do { ret e = enter(d, function); if (e) return e; } while (0)
