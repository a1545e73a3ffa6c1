/* Memory errors, replaced rows, and the PCIe link. */
#include "fake.h"

#ifndef MINIMAL
API ret nvmlDeviceGetTotalEccErrors(device d, int uncorrected, int aggregate, unsigned long long *to)
{
	return aggregate ? INVALID : give_long(d, "TotalEccErrors", uncorrected ? "ecc.uncorrected" : "ecc.corrected", to);
}

SINCE_2020 ret nvmlDeviceGetRemappedRows(device d, unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failed)
{
	ENTER(d, "RemappedRows");
	const char *rows = text_at(d.gpu->index, "remapped", now());
	if (!rows || sscanf(rows, "%u %u %u %u", corrected, uncorrected, pending, failed) != 4)
		return NOT_SUPPORTED;
	return OK;
}

API ret nvmlDeviceGetRetiredPagesPendingStatus(device d, unsigned *to) { return give_number(d, "RetiredPagesPendingStatus", "retired_pending", to); }

API ret nvmlDeviceGetCurrPcieLinkGeneration(device d, unsigned *to) { return give_number(d, "CurrPcieLinkGeneration", "pcie_gen", to); }
API ret nvmlDeviceGetMaxPcieLinkGeneration(device d, unsigned *to) { return give_number(d, "MaxPcieLinkGeneration", "pcie_gen_max", to); }
API ret nvmlDeviceGetCurrPcieLinkWidth(device d, unsigned *to) { return give_number(d, "CurrPcieLinkWidth", "pcie_width", to); }
API ret nvmlDeviceGetMaxPcieLinkWidth(device d, unsigned *to) { return give_number(d, "MaxPcieLinkWidth", "pcie_width_max", to); }
API ret nvmlDeviceGetPcieReplayCounter(device d, unsigned *to) { return give_number(d, "PcieReplayCounter", "pcie_replays", to); }
#endif
