//go:build linux && cgo

package nvml

import (
	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

const fieldRecoveryAction = nvml.FI_DEV_GET_GPU_RECOVERY_ACTION

// readErrors asks for what is wrong with the board's memory and what the driver wants done.
func (d *nvmlDevice) readErrors(r *reader) {
	k := &d.kept
	k.ECCCorrectedTotal = d.eccErrors(r, nvml.MEMORY_ERROR_TYPE_CORRECTED)
	k.ECCUncorrectedTotal = d.eccErrors(r, nvml.MEMORY_ERROR_TYPE_UNCORRECTED)
	d.remappedRows(r)
	f := &d.fields
	f.want(0, fieldRecoveryAction)
	f.read(r, d.handle)
	k.RecoveryAction = f.of(fieldRecoveryAction).opt(1)
	if k.RecoveryAction.Or(0) >= float64(len(probes.RecoveryActions)) {
		k.RecoveryAction = probes.Opt[float64]{} // one that this build has no words for
	}
}

// eccErrors since the driver was loaded; devices without ECC, or with it off, have none.
func (d *nvmlDevice) eccErrors(r *reader, kind nvml.MemoryErrorType) probes.Opt[float64] {
	return r.long("nvmlDeviceGetTotalEccErrors", uint32(kind), func() (uint64, nvml.Return) {
		return d.handle.GetTotalEccErrors(kind, nvml.VOLATILE_ECC)
	}, 1)
}

// remappedRows is of Ampere and newer; older devices retire whole pages, of which it is
// told that one is pending.
func (d *nvmlDevice) remappedRows(r *reader) {
	k := &d.kept
	var corrected, uncorrected int
	var pending, failed bool
	ret := r.call("nvmlDeviceGetRemappedRows", func() (ret nvml.Return) {
		corrected, uncorrected, pending, failed, ret = d.handle.GetRemappedRows()
		return
	})
	if ret == nvml.SUCCESS {
		k.RowsRemappedCorrected, k.RowsRemappedUncorrected = probes.Some(float64(corrected)), probes.Some(float64(uncorrected))
		k.RemapPending, k.RemapFailed = flag(pending), flag(failed)
		return
	}
	none := probes.None[float64](absence(ret))
	k.RowsRemappedCorrected, k.RowsRemappedUncorrected, k.RemapPending, k.RemapFailed = none, none, none, none
	if absence(ret) == probes.Unsupported {
		k.RemapPending = r.number("nvmlDeviceGetRetiredPagesPendingStatus", func() (uint32, nvml.Return) {
			s, ret := d.handle.GetRetiredPagesPendingStatus()
			return uint32(s), ret
		}, 1)
	}
}

func flag(on bool) probes.Opt[float64] {
	if on {
		return probes.Some(1.0)
	}
	return probes.Some(0.0)
}
