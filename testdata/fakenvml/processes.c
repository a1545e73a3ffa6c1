/*
 * Processes: a line with the key process.<list>.<pid> makes one, its value is the memory in
 * bytes, "none" where the driver does not know it, or "gone"; <list> is compute, graphics
 * or mps. A line with process_use.<pid> "<SM %> <memory %> [age in s]" is a sample of its
 * use, taken at the line's time or so much earlier.
 */
#include "fake.h"

#ifndef MINIMAL
typedef struct { unsigned pid; unsigned long long memory; } process_v1;
typedef struct { unsigned pid; unsigned long long memory; unsigned gpu_instance, compute_instance; } process_v2;
typedef struct { unsigned pid; unsigned long long time; unsigned sm, memory, encoder, decoder; } use;

_Static_assert(sizeof(process_v1) == 16 && sizeof(process_v2) == 24 && sizeof(use) == 32, "ABI of NVML");

/* first says whether line i is the first with its key for a GPU, so that each key is looked at once */
static int first(int gpu, int i)
{
	for (int j = 0; j < i; j++)
		if ((lines[j].gpu == gpu || lines[j].gpu < 0) && !strcmp(lines[j].key, lines[i].key))
			return 0;
	return lines[i].gpu == gpu || lines[i].gpu < 0;
}

/* list writes the processes of a list; as the driver does, it only counts when they do not fit */
static ret list(device d, const char *function, const char *name, unsigned *count, void *to, int version)
{
	ENTER(d, function);
	unsigned n = 0;
	char prefix[32];
	snprintf(prefix, sizeof prefix, "process.%s.", name);
	for (int i = 0; i < line_count; i++) {
		if (strncmp(lines[i].key, prefix, strlen(prefix)) || !first(d.gpu->index, i))
			continue;
		const char *memory = text_at(d.gpu->index, lines[i].key, now());
		if (!memory || !strcmp(memory, "gone"))
			continue;
		if (n < *count) {
			unsigned pid = (unsigned)atoi(lines[i].key + strlen(prefix));
			unsigned long long bytes = strcmp(memory, "none") ? strtoull(memory, NULL, 10) : ~0ull;
			if (version == 1)
				((process_v1 *)to)[n] = (process_v1){ pid, bytes };
			else
				((process_v2 *)to)[n] = (process_v2){ pid, bytes, ~0u, ~0u };
		}
		n++;
	}
	ret e = n > *count ? TOO_SMALL : OK;
	*count = n;
	return e;
}

#define LIST(kind, name) \
	API ret nvmlDeviceGet##kind##RunningProcesses(device d, unsigned *n, process_v1 *to) { return list(d, #kind "RunningProcesses", name, n, to, 1); }
#define NEWER_LIST(kind, name, v) \
	API ret nvmlDeviceGet##kind##RunningProcesses_v##v(device d, unsigned *n, process_v2 *to) { return list(d, #kind "RunningProcesses", name, n, to, v); }

LIST(Compute, "compute")
LIST(Graphics, "graphics")
#ifndef OLD_DRIVER
LIST(MPSCompute, "mps")
NEWER_LIST(Compute, "compute", 2)
NEWER_LIST(Graphics, "graphics", 2)
NEWER_LIST(MPSCompute, "mps", 2)
NEWER_LIST(Compute, "compute", 3)
NEWER_LIST(Graphics, "graphics", 3)
NEWER_LIST(MPSCompute, "mps", 3)
#endif

/* microseconds since 1970 of a time of the script; epoch is when that began */
static unsigned long long stamp(double t)
{
	static double began;
	if (!began)
		began = (double)time(NULL);
	return (unsigned long long)((number_at(-1, "epoch", 0, began) + t) * 1e6);
}

API ret nvmlDeviceGetProcessUtilization(device d, use *to, unsigned *count, unsigned long long since)
{
	ENTER(d, "ProcessUtilization");
	unsigned n = 0;
	for (int i = 0; i < line_count; i++) {
		const struct line *l = &lines[i];
		unsigned sm = 0, memory = 0;
		double age = 0;
		if ((l->gpu != d.gpu->index && l->gpu >= 0) || strncmp(l->key, "process_use.", 12) || l->at > now())
			continue;
		sscanf(l->value, "%u %u %lf", &sm, &memory, &age);
		if (stamp(l->at) <= since)
			continue;
		if (to && n < *count)
			to[n] = (use){ (unsigned)atoi(l->key + 12), stamp(l->at - age), sm, memory, 0, 0 };
		n++;
	}
	if (!n)
		return NOT_FOUND;
	if (to && number(d.gpu->index, "process_use_grows") != 0)
		n++; /* one more came between the two calls */
	ret e = n > *count ? TOO_SMALL : OK;
	*count = n;
	return e;
}
#endif
