package bench

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/timeline"
	"sigs.k8s.io/cluster-api-provider-azure/sim/schedule"
)

// measurePhase measures do. Events of the rest after it count for no phase.
func (r *runner) measurePhase(ctx context.Context, name string, do func(context.Context, *Phase) error) error {
	p := Phase{Name: name}
	before := r.readHistogram(ctx)
	cpu, _, _ := r.watcher.readUsage()
	during := span{from: time.Now()}
	if err := r.runGuarded(ctx, func(ctx context.Context) error { return do(ctx, &p) }); err != nil {
		return fmt.Errorf("%s, phase %s: %w", r.scenario.Name, name, err)
	}
	during.to = time.Now()
	p.Begun, p.Ended = during.from.UTC(), during.to.UTC()
	if p.WallSeconds == 0 {
		p.WallSeconds = during.to.Sub(during.from).Seconds()
	}
	after, _, _ := r.watcher.readUsage()
	p.Process = &Process{CPUSeconds: after - cpu}
	p.Reconciliations = r.readHistogram(ctx).subtractBefore(before).summarizeReconciliations()
	if err := waitFor(ctx, r.Rest); err != nil {
		return err
	}
	_, p.Process.RestMiB, p.Process.PeakMiB = r.watcher.readUsage()

	log, err := timeline.ReadLog(r.settings.RequestLog())
	if err != nil {
		return err
	}
	calls, err := readAudit(r.settings.AuditLog())
	if err != nil {
		return err
	}
	p.Azure = countRequests(log, during)
	kubernetes := countCalls(calls, during, r.accounts)
	p.Kubernetes = &kubernetes
	p.Requests = countPerMoment(log, during)
	p.Memory = r.watcher.samplesIn(during, shown)
	r.out.Phases = append(r.out.Phases, p)
	r.Report("%s: %s, %d reads, %d writes, %d deletes", name, formatSeconds(during.to.Sub(during.from)), p.Azure.Reads, p.Azure.Writes,
		p.Azure.Deletes)
	return nil
}

// runGuarded bounds a phase in time, and ends it when a program of the provider exits.
func (r *runner) runGuarded(ctx context.Context, do func(context.Context) error) error {
	bounded, cancel := context.WithTimeoutCause(ctx, r.Timeout, fmt.Errorf("the time limit of %s is over", r.Timeout))
	defer cancel()
	bounded, stop := context.WithCancelCause(bounded)
	defer stop(nil)
	go func() {
		tick := time.NewTicker(watchInterval)
		defer tick.Stop()
		for {
			select {
			case <-bounded.Done():
				return
			case <-tick.C:
			}
			for _, p := range r.programs {
				if err := management.ProcessTable(r.settings).ExitError(p.Name); err != nil && !r.restarting.Load() {
					stop(errExited{err})
					return
				}
			}
		}
	}()
	err := do(bounded)
	var exited errExited
	if errors.As(context.Cause(bounded), &exited) {
		return exited
	}
	return err
}

// errExited reports that a program of the provider has ended by itself.
type errExited struct{ error }

// shown is how many points of a curve are kept.
const shown = 200

// countPerMoment returns how many requests there were at each moment.
func countPerMoment(log []schedule.Request, during span) []Point {
	var all []Point
	for _, request := range log {
		if ofProvider(request) && during.contains(request.Time) {
			all = append(all, Point{Seconds: request.Time.Sub(during.from).Seconds(), Count: len(all) + 1})
		}
	}
	out := keepEveryNth(all, shown)
	if len(all) > 0 {
		out = append(out, Point{Seconds: during.to.Sub(during.from).Seconds(), Count: len(all)})
	}
	return out
}

// readHistogram adds up controller-runtime's metrics of the provider's programs. It is empty for a program without
// metrics.
func (r *runner) readHistogram(ctx context.Context) histogram {
	out := histogram{}
	managers := []settings.Manager{settings.Azure}
	if len(r.programs) > 0 {
		managers = nil
		for _, p := range r.programs {
			managers = append(managers, p.Manager)
		}
	}
	for _, m := range managers {
		for _, scheme := range []string{"https://", "http://"} {
			metrics, err := r.getURL(ctx, scheme+r.settings.DiagnosticsAddress(m)+"/metrics")
			if err != nil {
				continue
			}
			for bound, count := range readReconciliations(metrics) {
				out[bound] += count
			}
			break
		}
	}
	return out
}

// metricsClient takes any certificate: managers make their own.
var metricsClient = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
	TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
}}

func (r *runner) getURL(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+r.token)
	response, err := metricsClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s", url, response.Status)
	}
	return string(raw), err
}

// silence is how long there has to be next to no request for a restart to be over: objects that were found in order are looked at
// again at moments of their own, so that with many of them there always is one.
const silence = 15 * time.Second

// restartProvider kills the provider, starts it anew, and waits until it has seen everything. It lasted until the silence began.
func (r *runner) restartProvider(ctx context.Context, p *Phase) error {
	begin := time.Now()
	table := management.ProcessTable(r.settings)
	r.restarting.Store(true)
	defer r.restarting.Store(false)
	for _, name := range r.processNames() {
		if err := table.Kill(ctx, name); err != nil {
			return err
		}
	}
	for _, program := range r.programs {
		if err := program.startProgram(ctx, r.settings, r.webhooks[program.Name]); err != nil {
			return err
		}
	}
	r.restarting.Store(false)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the provider still sends requests to Azure: %w", context.Cause(ctx))
		case <-tick.C:
		}
		log, err := timeline.ReadLog(r.settings.RequestLog())
		if err != nil {
			return err
		}
		if end, over := findQuiet(log, begin, time.Now()); over {
			p.WallSeconds = end.Sub(begin).Seconds()
			return nil
		}
	}
}

// findQuiet reports whether in the last silence there was no more than a twentieth of all requests since begin, and when it began.
func findQuiet(log []schedule.Request, begin, now time.Time) (end time.Time, over bool) {
	all, late := 0, 0
	end = begin
	for _, request := range log {
		switch {
		case !ofProvider(request) || request.Time.Before(begin):
			continue
		case request.Time.After(now.Add(-silence)):
			late++
		default:
			end = request.Time
		}
		all++
	}
	return end, all > 0 && late <= all/20 && now.Sub(begin) > silence
}
