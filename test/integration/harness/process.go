package harness

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"sigs.k8s.io/cluster-api-provider-azure/internal/setup"
)

// process is a manager that runs in this process.
type process struct {
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	err    error // valid when done is closed
}

// managerFlags returns a manager's options as its command line gives them.
func managerFlags(namespace, certDir string, more []string) (*setup.Options, error) {
	options := &setup.Options{Version: "integration", SkipNameValidation: true}
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	options.AddFlags(flags)
	arguments := append([]string{
		"--namespace=" + namespace,
		"--diagnostics-address=0",
		"--health-addr=0",
		"--webhook-cert-dir=" + certDir,
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
	}, more...)
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	return options, nil
}

func newProcess() *process {
	ctx, cancel := context.WithCancel(context.Background())
	return &process{ctx: ctx, cancel: cancel, done: make(chan struct{})}
}

// startManager runs the manager until it is stopped.
func (p *process) startManager(config *rest.Config, options *setup.Options) {
	go func() {
		defer close(p.done)
		p.err = setup.Run(p.ctx, config, options)
	}()
}

// stopManager ends the manager and returns the error it ended with.
func (p *process) stopManager() error {
	p.cancel()
	<-p.done
	switch {
	case p.err == nil || errors.Is(p.err, context.Canceled):
		return nil
	case errors.Is(p.err, context.DeadlineExceeded):
		return fmt.Errorf("manager: %w\n%s", p.err, listBusyGoroutines())
	default:
		return fmt.Errorf("manager: %w", p.err)
	}
}

// listBusyGoroutines returns the goroutines of the provider and of controllers, which show why a manager does not end. They are those
// of all managers of the process.
func listBusyGoroutines() string {
	all := make([]byte, 4<<20)
	all = all[:runtime.Stack(all, true)]
	var out []string
	for _, goroutine := range strings.Split(string(all), "\n\n") {
		if strings.Contains(goroutine, "cluster-api-provider-azure/internal/") || strings.Contains(goroutine, "controller-runtime/pkg/") {
			out = append(out, goroutine)
		}
	}
	return strings.Join(out, "\n\n")
}

// waitUntilListening waits until the manager's webhook server takes connections.
func (p *process) waitUntilListening(ctx context.Context, address string) error {
	dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: time.Second},
		Config: &tls.Config{InsecureSkipVerify: true}} // It only asks whether it listens.
	err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		select {
		case <-p.done:
			return false, fmt.Errorf("the manager ended: %w", p.err)
		default:
		}
		connection, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return false, nil
		}
		return true, connection.Close()
	})
	if err != nil {
		return fmt.Errorf("webhook server at %s: %w", address, err)
	}
	return nil
}

// addresses counts the addresses that were given away.
var addresses atomic.Int32

// ownAddress returns a loopback address that no other manager, process or connection uses: a port that is merely free now may be the
// local end of another connection by the time a manager listens there.
func ownAddress() (host string, port int) {
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d", 1+pid>>16&0x7f, pid>>8&0xff, pid&0xff), 10000 + int(addresses.Add(1))
}

// roundTripper is a function that sends requests.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// Do implements azcore's policy.Transporter.
func (f roundTripper) Do(request *http.Request) (*http.Response, error) { return f(request) }
