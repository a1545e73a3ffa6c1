/* What a device is and reads: memory, power, clocks, heat. */
#include "fake.h"

#ifndef MINIMAL

API ret nvmlDeviceGetName(device d, char *to, unsigned size)
{
	ENTER(d, "Name");
	const char *name = text_at(d.gpu->index, "name", now());
	return give_text(name ? name : "FAKE GPU", to, size);
}

API ret nvmlDeviceGetUUID(device d, char *to, unsigned size)
{
	ENTER(d, "UUID");
	char uuid[64];
	snprintf(uuid, sizeof uuid, "GPU-00000000-0000-0000-0000-%012d", d.gpu->index);
	const char *given = text_at(d.gpu->index, "uuid", now());
	return give_text(given ? given : uuid, to, size);
}

typedef struct { unsigned gpu, memory; } utilization;

API ret nvmlDeviceGetUtilizationRates(device d, utilization *to)
{
	ENTER(d, "UtilizationRates");
	to->gpu = (unsigned)number(d.gpu->index, "util");
	to->memory = (unsigned)number(d.gpu->index, "memory_util");
	return OK;
}

typedef struct { unsigned long long total, free, used; } memory_v1;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } memory_v2;

_Static_assert(sizeof(memory_v2) == 40, "ABI of NVML");

API ret nvmlDeviceGetMemoryInfo(device d, memory_v1 *to)
{
	ENTER(d, "MemoryInfo");
	int g = d.gpu->index;
	to->total = (unsigned long long)number(g, "memory_total");
	to->used = (unsigned long long)(number(g, "memory_used") + number(g, "memory_reserved"));
	to->free = to->total - to->used;
	return OK;
}

SINCE_2020 ret nvmlDeviceGetMemoryInfo_v2(device d, memory_v2 *to)
{
	ENTER(d, "MemoryInfo_v2");
	if (to->version != (sizeof *to | 2u << 24))
		return BAD_VERSION;
	int g = d.gpu->index;
	to->total = (unsigned long long)number(g, "memory_total");
	to->reserved = (unsigned long long)number(g, "memory_reserved");
	to->used = (unsigned long long)number(g, "memory_used");
	to->free = to->total - to->reserved - to->used;
	return OK;
}

API ret nvmlDeviceGetPowerUsage(device d, unsigned *to) { return give_number(d, "PowerUsage", "power", to); }
API ret nvmlDeviceGetEnforcedPowerLimit(device d, unsigned *to) { return give_number(d, "EnforcedPowerLimit", "power_limit", to); }
API ret nvmlDeviceGetPowerManagementDefaultLimit(device d, unsigned *to) { return give_number(d, "PowerManagementDefaultLimit", "power_default", to); }

API ret nvmlDeviceGetTemperature(device d, int sensor, unsigned *to)
{
	return sensor == 0 ? give_number(d, "Temperature", "temperature", to) : INVALID;
}

typedef struct { unsigned version, sensor; int temperature; } temperature_v;

SINCE_2020 ret nvmlDeviceGetTemperatureV(device d, temperature_v *to)
{
	if (to->version != (sizeof *to | 1u << 24))
		return BAD_VERSION;
	return to->sensor == 0 ? give_number(d, "TemperatureV", "temperature", (unsigned *)&to->temperature) : INVALID;
}

API ret nvmlDeviceGetTemperatureThreshold(device d, int which, unsigned *to)
{
	return which == 1 ? give_number(d, "TemperatureThreshold", "slowdown", to) : INVALID;
}

typedef struct { unsigned version; int margin; } margin_v1;

SINCE_2020 ret nvmlDeviceGetMarginTemperature(device d, margin_v1 *to)
{
	ENTER(d, "MarginTemperature");
	if (to->version != (sizeof *to | 1u << 24))
		return BAD_VERSION;
	const char *value = text_at(d.gpu->index, "margin", now());
	if (!value)
		return NOT_SUPPORTED;
	to->margin = atoi(value);
	return OK;
}

API ret nvmlDeviceGetPerformanceState(device d, unsigned *to) { return give_number(d, "PerformanceState", "pstate", to); }
API ret nvmlDeviceGetTotalEnergyConsumption(device d, unsigned long long *to) { return give_long(d, "TotalEnergyConsumption", "energy", to); }

/* types of clocks: 0 graphics, 1 SM, 2 memory, 3 video */
API ret nvmlDeviceGetClockInfo(device d, int type, unsigned *to)
{
	return give_number(d, "ClockInfo", type == 2 ? "memory_clock" : "sm_clock", to);
}

API ret nvmlDeviceGetMaxClockInfo(device d, int type, unsigned *to)
{
	return give_number(d, "MaxClockInfo", type == 2 ? "memory_clock_max" : "sm_clock_max", to);
}

static ret throttle(device d, const char *function, unsigned long long *to)
{
	ENTER(d, function);
	const char *bits = text_at(d.gpu->index, "throttle", now());
	*to = bits ? strtoull(bits, NULL, 0) : 0;
	return OK;
}

API ret nvmlDeviceGetCurrentClocksThrottleReasons(device d, unsigned long long *to) { return throttle(d, "CurrentClocksThrottleReasons", to); }
SINCE_2020 ret nvmlDeviceGetCurrentClocksEventReasons(device d, unsigned long long *to) { return throttle(d, "CurrentClocksEventReasons", to); }
#endif
