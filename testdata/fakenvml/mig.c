/* MIG: a GPU divided into instances, each of which has a device of its own. */
#include "fake.h"

#if !defined OLD_DRIVER && !defined MINIMAL
API ret nvmlDeviceGetMigMode(device d, unsigned *current, unsigned *pending)
{
	ret e = give_number(d, "MigMode", "mig", current);
	*pending = *current;
	return e;
}

API ret nvmlDeviceGetMaxMigDeviceCount(device d, unsigned *to)
{
	ENTER(d, "MaxMigDeviceCount");
	*to = text_at(d.gpu->index, "mig", now()) ? MAX_INSTANCES - 1 : 0;
	return OK;
}

static int exists(int place) { return number_at(place, "gpu_instance", now(), 0) > 0; }

API ret nvmlDeviceGetMigDeviceHandleByIndex(device d, unsigned i, device *to)
{
	ENTER(d, "MigDeviceHandleByIndex");
	if (i >= MAX_INSTANCES - 1)
		return INVALID;
	int place = instance(d.gpu->index, (int)i);
	if (!exists(place))
		return NOT_FOUND;
	*to = (device){ &gpus[place] };
	return OK;
}

API ret nvmlDeviceGetGpuInstanceId(device d, unsigned *to) { return give_number(d, "GpuInstanceId", "gpu_instance", to); }

typedef struct {
	unsigned multiprocessors, copy, decoders, encoders, jpeg, ofa, gpu_slices, compute_slices;
	unsigned long long memory_mb;
} attributes;

_Static_assert(sizeof(attributes) == 40, "ABI of NVML");

static ret give_attributes(device d, attributes *to)
{
	ENTER(d, "Attributes");
	const char *slices = text_at(d.gpu->index, "slices", now());
	memset(to, 0, sizeof *to);
	if (!slices || sscanf(slices, "%u %u %llu", &to->gpu_slices, &to->compute_slices, &to->memory_mb) != 3)
		return NOT_SUPPORTED;
	return OK;
}

API ret nvmlDeviceGetAttributes(device d, attributes *to) { return give_attributes(d, to); }
API ret nvmlDeviceGetAttributes_v2(device d, attributes *to) { return give_attributes(d, to); }
#endif
