//go:build linux && cgo

package nvml

import (
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"llmtop/probes"
)

// inWords says what an error means for a person at the host. The driver's own
// words are not asked for: that is a call too.
func inWords(ret nvml.Return) string {
	switch ret {
	case nvml.ERROR_UNINITIALIZED:
		return "NVML was shut down"
	case nvml.ERROR_INVALID_ARGUMENT:
		return "the driver does not know what it is asked (NVML error 2)"
	case nvml.ERROR_NOT_SUPPORTED:
		return "the driver does not support this"
	case nvml.ERROR_NOT_FOUND:
		return "there is none (NVML error 6)"
	case nvml.ERROR_NO_PERMISSION:
		return "no permission to use the NVIDIA driver: look at the access rights of /dev/nvidia*"
	case nvml.ERROR_DRIVER_NOT_LOADED:
		return "the NVIDIA kernel driver is not loaded"
	case nvml.ERROR_LIBRARY_NOT_FOUND:
		return "the NVIDIA driver's library cannot be loaded"
	case nvml.ERROR_FUNCTION_NOT_FOUND:
		return "the NVIDIA driver lacks a function that is needed"
	case nvml.ERROR_TIMEOUT:
		return "the driver had nothing to tell in time (NVML error 10)"
	case nvml.ERROR_MEMORY:
		return "the driver has no memory left for this (NVML error 20)"
	case nvml.ERROR_ARGUMENT_VERSION_MISMATCH:
		return "the driver knows another version of this (NVML error 25)"
	case nvml.ERROR_DEPRECATED:
		return "the driver no longer has this (NVML error 26)"
	case nvml.ERROR_NOT_READY:
		return "the driver is not ready yet (NVML error 27)"
	case nvml.ERROR_GPU_IS_LOST:
		return "it has fallen off the bus or is otherwise inaccessible (NVML error 15)"
	case nvml.ERROR_RESET_REQUIRED:
		return "it needs a reset (NVML error 16)"
	case nvml.ERROR_GPU_NOT_FOUND:
		return "the driver no longer finds it (NVML error 28)"
	case nvml.ERROR_OPERATING_SYSTEM:
		return "the operating system or a cgroup blocks the GPU (NVML error 17)"
	case nvml.ERROR_LIB_RM_VERSION_MISMATCH:
		return "the NVIDIA kernel driver and its library are of different versions (NVML error 18), as after an upgrade: reload the driver or reboot, then start llmtop again"
	case nvml.ERROR_UNKNOWN:
		return "the driver answers with an unknown error (NVML error 999); a container that lost its GPUs must be restarted"
	}
	return fmt.Sprintf("NVML error %d", int(ret))
}

// absence is why a reading is missing after a call that did not succeed.
func absence(ret nvml.Return) probes.Absence {
	switch ret {
	case nvml.ERROR_NOT_SUPPORTED, nvml.ERROR_FUNCTION_NOT_FOUND, nvml.ERROR_DEPRECATED, nvml.ERROR_ARGUMENT_VERSION_MISMATCH:
		return probes.Unsupported
	case nvml.ERROR_NO_PERMISSION:
		return probes.NoPermission
	}
	if lost(ret) {
		return probes.Lost
	}
	return probes.NotSeen
}

// lost says whether the whole device is gone.
func lost(ret nvml.Return) bool {
	return ret == nvml.ERROR_GPU_IS_LOST || ret == nvml.ERROR_RESET_REQUIRED || ret == nvml.ERROR_GPU_NOT_FOUND
}
