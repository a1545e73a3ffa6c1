/* What a device is, and where it is. */
#include "fake.h"

#ifndef MINIMAL
typedef struct { char legacy[16]; unsigned domain, bus, device, device_id, subsystem; char id[32]; } pci_info;

_Static_assert(sizeof(pci_info) == 68, "ABI of NVML");

/* fill writes the address of a GPU; its text as drivers do, with eight digits of the domain */
static void fill(int gpu, pci_info *to, int full)
{
	unsigned domain = 0, bus = 0x10 + (unsigned)gpu, slot = 0, function = 0;
	const char *given = text_at(gpu, "pci", now());
	if (given)
		sscanf(given, "%x:%x:%x.%x", &domain, &bus, &slot, &function);
	const char *id = text_at(gpu, "pci_device", now());
	to->domain = domain;
	to->bus = bus;
	to->device = slot;
	to->device_id = id ? (unsigned)strtoul(id, NULL, 0) << 16 | 0x10de : 0;
	snprintf(to->legacy, sizeof to->legacy, "%04X:%02X:%02X.%X", domain & 0xffff, bus & 0xff, slot & 0xff, function & 0xf);
	if (full)
		snprintf(to->id, sizeof to->id, "%08X:%02X:%02X.%X", domain, bus & 0xff, slot & 0xff, function & 0xf);
}

static ret pci(device d, pci_info *to, int full)
{
	ENTER(d, "PciInfo");
	fill(d.gpu->index, to, full);
	return OK;
}

API ret nvmlDeviceGetPciInfo(device d, pci_info *to) { return pci(d, to, 0); }
API ret nvmlDeviceGetPciInfo_v2(device d, pci_info *to) { return pci(d, to, 0); }
SINCE_2020 ret nvmlDeviceGetPciInfo_v3(device d, pci_info *to) { return pci(d, to, 1); }

SINCE_2020 ret nvmlDeviceGetArchitecture(device d, unsigned *to) { return give_number(d, "Architecture", "architecture", to); }
API ret nvmlDeviceGetVirtualizationMode(device d, unsigned *to) { return give_number(d, "VirtualizationMode", "virtual", to); }

static ret mask(device d, const char *function, const char *key, unsigned count, unsigned long *to)
{
	ENTER(d, function);
	const char *words = text_at(d.gpu->index, key, now());
	if (!words)
		return NOT_SUPPORTED;
	char *rest = (char *)words;
	for (unsigned i = 0; i < count; i++)
		to[i] = strtoul(rest, &rest, 16);
	return OK;
}

API ret nvmlDeviceGetCpuAffinity(device d, unsigned count, unsigned long *to) { return mask(d, "CpuAffinity", "cpus", count, to); }

SINCE_2020 ret nvmlDeviceGetMemoryAffinity(device d, unsigned count, unsigned long *to, int scope)
{
	return scope == 0 ? mask(d, "MemoryAffinity", "nodes", count, to) : INVALID;
}

API ret nvmlDeviceGetTopologyCommonAncestor(device a, device b, unsigned *to)
{
	char key[24];
	ENTER(a, "TopologyCommonAncestor");
	ENTER(b, "TopologyCommonAncestor");
	snprintf(key, sizeof key, "topology.%d", b.gpu->index);
	const char *level = text_at(a.gpu->index, key, now());
	if (!level)
		return NOT_SUPPORTED;
	*to = (unsigned)atoi(level);
	return OK;
}

static const char *link_state(device d, unsigned link)
{
	char key[24];
	snprintf(key, sizeof key, "nvlink.%u", link);
	return text_at(d.gpu->index, key, now());
}

API ret nvmlDeviceGetNvLinkState(device d, unsigned link, unsigned *to)
{
	ENTER(d, "NvLinkState");
	const char *state = link_state(d, link);
	if (!state)
		return INVALID;
	*to = strcmp(state, "down") != 0;
	return OK;
}

/* types: 0 a GPU, 2 a switch */
SINCE_2020 ret nvmlDeviceGetNvLinkRemoteDeviceType(device d, unsigned link, unsigned *to)
{
	ENTER(d, "NvLinkRemoteDeviceType");
	const char *state = link_state(d, link);
	if (!state)
		return INVALID;
	*to = strcmp(state, "switch") ? 0 : 2;
	return OK;
}

static ret remote(device d, unsigned link, pci_info *to)
{
	int other;
	ENTER(d, "NvLinkRemotePciInfo");
	const char *state = link_state(d, link);
	if (!state)
		return INVALID;
	if (sscanf(state, "gpu %d", &other) != 1)
		return NOT_SUPPORTED;
	fill(other, to, 1);
	return OK;
}

API ret nvmlDeviceGetNvLinkRemotePciInfo(device d, unsigned link, pci_info *to) { return remote(d, link, to); }
SINCE_2020 ret nvmlDeviceGetNvLinkRemotePciInfo_v2(device d, unsigned link, pci_info *to) { return remote(d, link, to); }
#endif
