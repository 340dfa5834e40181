package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
)

// Options say where the simulator is and how fast the bridge's machines boot.
type Options struct {
	// Simulator is the base URL of azuresim, e.g. https://127.0.0.1:28443.
	Simulator string
	// SimulatorCAFile is a PEM file with the CA of the simulator's serving certificate.
	// Empty means the system's trust store.
	SimulatorCAFile string
	// ControlTokenFile holds the token sent as X-Sim-Token to the control API. Empty sends none.
	ControlTokenFile string
	// TimeScale multiplies every duration of the boot model: 1 is the measured median, 0 is at once.
	TimeScale float64
	// MinPort and MaxPort bound the loopback ports of the API servers (inclusive). Each control-plane
	// VM takes one, each workload cluster one more. Both 0 lets the kernel choose.
	MinPort, MaxPort int
	// Log receives structured records. Nil discards them.
	Log *slog.Logger
}

func (o *Options) validate() error {
	u, err := url.Parse(o.Simulator)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return fmt.Errorf("the simulator's address %q is not an http(s) URL such as https://127.0.0.1:28443", o.Simulator)
	}
	if o.TimeScale < 0 {
		return fmt.Errorf("time scale %v is negative: use 1 for the measured medians, 0 for at once", o.TimeScale)
	}
	if o.MinPort < 0 || o.MaxPort > 65535 || o.MaxPort < o.MinPort || (o.MinPort == 0) != (o.MaxPort == 0) {
		return fmt.Errorf("port range %d-%d is not MIN-MAX within 1-65535", o.MinPort, o.MaxPort)
	}
	return nil
}

// Run watches the simulator's guests and keeps workload clusters in step with them. It blocks until
// ctx is done (then it returns nil) or until it cannot start at all.
func Run(ctx context.Context, o Options) error {
	if err := o.validate(); err != nil {
		return err
	}
	return errors.New("not implemented")
}
