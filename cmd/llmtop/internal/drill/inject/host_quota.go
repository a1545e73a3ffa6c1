package inject

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// cpuQuota is a cgroup with a CPU quota around the engine.
//
//	cores  that the engine may have
type cpuQuota struct {
	cores float64

	group              *group
	periods, throttled float64 // counted by the kernel while it lasted
}

func newCPUQuota(with Settings) (Injector, error) {
	cores, err := with.Number("cores", 0, 0.02, 1024)
	if cores == 0 && err == nil {
		err = errors.New("no number of cores is given")
	}
	return &cpuQuota{cores: cores}, err
}

// quotaPeriod is the kernel's usual one, in microseconds.
const quotaPeriod = 100_000

func (q *cpuQuota) Start(_ context.Context, s *Site) (err error) {
	if q.group, err = newGroup("/", "cpu", s.Engine.PID()); err != nil {
		return err
	}
	quota := strconv.Itoa(int(q.cores * quotaPeriod))
	if q.group.v2 {
		err = q.group.set("cpu.max", fmt.Sprintf("%s %d", quota, quotaPeriod))
	} else {
		err = errors.Join(q.group.set("cpu.cfs_period_us", strconv.Itoa(quotaPeriod)), q.group.set("cpu.cfs_quota_us", quota))
	}
	if err != nil {
		return fmt.Errorf("setting a CPU quota: %w", err)
	}
	return nil
}

func (q *cpuQuota) Stop() error {
	if q.group != nil && q.group.dir != "" {
		q.periods, q.throttled = q.group.read("cpu.stat", "nr_periods"), q.group.read("cpu.stat", "nr_throttled")
	}
	return q.group.undo()
}

// Confirm asks that the quota stopped the engine in a tenth of the kernel's periods.
func (q *cpuQuota) Confirm() error {
	if q.periods == 0 || q.throttled < q.periods/10 {
		return fmt.Errorf("the quota stopped the engine in %.0f of %.0f periods", q.throttled, q.periods)
	}
	return nil
}
