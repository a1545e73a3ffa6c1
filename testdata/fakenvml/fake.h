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
 *   <seconds> <gpu|*> <key> <value to the end of the line>
 *
 * and means: from then on, for that GPU (or for all), key has that value. Lines
 * starting with # are comments. The later line wins when two apply.
 *
 *   count, driver, error.Init            of the host (gpu *)
 *   name, uuid                           text
 *   util, memory_util                    %
 *   memory_total, memory_used, memory_reserved    bytes
 *   power, power_limit, power_default    mW
 *   sm_clock, memory_clock, sm_clock_max, memory_clock_max   MHz
 *   temperature                          degrees
 *   throttle                             bits of the clocks-event reasons
 *   gpm                                  0: the device has no GPM (default 1)
 *   gpm.<metric id>                      %, or nan; without it the metric is unsupported
 *   xid                                  a critical error of that number happens, once
 *   error.<Function>, error.*            what the call (any call) of that GPU returns
 *   delay_ms.<Function>                  how long the call takes
 *   hang.<Function>                      1: the call comes back only when this is 0 again
 *
 * <Function> is the name without nvml, Device and Get: PowerUsage, MemoryInfo_v2.
 *
 * Time is seconds since initialisation, or, with FAKE_NVML_CLOCK, the number in the
 * file of that name, so that a test moves time by writing it.
 *
 * -DOLD_DRIVER leaves out what a driver of 2019 did not have; -DNOT_NVML leaves out
 * the start, as a wrong library of the same name would.
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

enum {
	OK = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, TOO_SMALL = 7,
	TIMEOUT = 10, MEMORY = 20, BAD_VERSION = 25, UNKNOWN = 999,
};
typedef int ret; /* nvmlReturn_t */

/* ---- script.c ---- */
enum { MAX_LINES = 2048, MAX_GPUS = 16 };

struct line { double at; int gpu; char key[48], value[96]; };
extern struct line lines[MAX_LINES];
extern int line_count, users;

struct gpu { int index; };
extern struct gpu gpus[MAX_GPUS];
typedef struct { struct gpu *gpu; } device; /* nvmlDevice_t: one pointer */

double monotonic(void);
double now(void);
void read_script(void);
/* value of key for a GPU (-1: the host) at a time, NULL when the script has none */
const char *text_at(int gpu, const char *key, double t);
double number_at(int gpu, const char *key, double t, double otherwise);
double number(int gpu, const char *key);
/* enter plays what the script says of a call as such: delay, hang, error */
ret enter(device d, const char *function);
ret give_text(const char *from, char *to, unsigned size);
/* give_number answers with a key's number; without one it is not supported */
ret give_number(device d, const char *function, const char *key, unsigned *to);

#define ENTER(d, function) do { ret e = enter(d, function); if (e) return e; } while (0)
