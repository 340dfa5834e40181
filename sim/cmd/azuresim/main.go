// Command azuresim serves a simulated Azure: Azure Resource Manager, Microsoft Entra ID tokens and a CONNECT proxy.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "azuresim:", err)
		os.Exit(1)
	}
}

// version is set by the linker.
var version = "dev"

// maxTimeScale keeps durations of hours from overflowing.
const maxTimeScale = 1000

type flags struct {
	listen, proxy, requestLog, changeLog, faultFile, controlTokenFile, snapshot string
	principals                                                                  []string
	options                                                                     server.Options
}

func command() *cobra.Command {
	f := &flags{}
	cmd := &cobra.Command{
		Use:   "azuresim",
		Short: "Serve a simulated Azure on a loopback address",
		Example: `  azuresim --state-dir azure --time-scale 0
  azuresim --connect-proxy 127.0.0.1:8444 --enforce-rbac --owner 11111111-1111-1111-1111-111111111111
  azuresim --fault-file faults.json --request-log requests.jsonl`,
		Version:       version,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.listen, "listen", "127.0.0.1:8443", "address of Resource Manager, Entra ID and the control API (TLS)")
	fs.StringVar(&f.proxy, "connect-proxy", "", "address of the CONNECT proxy; none when empty")
	fs.StringVar(&f.options.StateDir, "state-dir", "", "directory for the CA (ca.crt), keys and state; in memory when empty")
	fs.StringVar(&f.requestLog, "request-log", "", "file that gets one JSON line per request")
	fs.StringVar(&f.changeLog, "change-log", "", "file that gets one JSON line per resource that changes, as a GET shows it")
	fs.Float64Var(&f.options.TimeScale, "time-scale", 1, "factor for the measured latencies of Azure; with 0 operations end at once")
	fs.StringSliceVar(&f.options.Subscriptions, "subscription", nil, "subscription ID; may be repeated")
	fs.StringVar(&f.options.Tenant, "tenant", "", "tenant ID")
	fs.StringArrayVar(&f.principals, "principal", nil,
		"application as clientID:secret[:objectID], or clientID:@file[:objectID] with the secret in a file; may be repeated")
	fs.StringSliceVar(&f.options.Locations, "location", nil, "region that is served; may be repeated (default: a built-in list)")
	fs.Uint64Var(&f.options.Seed, "seed", 1, "seed of the random numbers")
	fs.StringVar(&f.snapshot, "snapshot", "", "file with the snapshot to load at the start, as GET /_sim/snapshot returns it")
	fs.StringVar(&f.faultFile, "fault-file", "", "JSON array of fault rules to start with")
	fs.StringVar(&f.controlTokenFile, "control-token-file", "", "file with the token that clients of the control API have to send")
	fs.BoolVar(&f.options.PutDropsTags, "put-drops-tags", false,
		"remove the tags of a virtual machine, scale set or disk that is PUT without tags")
	fs.BoolVar(&f.options.EnforceRBAC, "enforce-rbac", false, "refuse requests that the role assignments of the caller do not allow")
	fs.StringSliceVar(&f.options.Owners, "owner", nil,
		"client ID of an application that may do everything with --enforce-rbac, and assign roles to others; may be repeated")
	return cmd
}

func (f *flags) run(ctx context.Context) error {
	if err := f.complete(); err != nil {
		return err
	}
	for _, log := range []struct {
		name, file string
		to         *io.Writer
	}{{"request log", f.requestLog, &f.options.RequestLog}, {"change log", f.changeLog, &f.options.ChangeLog}} {
		if log.file == "" {
			continue
		}
		out, err := os.OpenFile(log.file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return fmt.Errorf("%s: %w", log.name, err)
		}
		defer out.Close()
		*log.to = out
	}
	// Before a state is made: a start that fails leaves none, so that the next one may use --snapshot.
	listener, err := listen("--listen", f.listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	var proxyListener net.Listener
	if f.proxy != "" {
		if proxyListener, err = listen("--connect-proxy", f.proxy); err != nil {
			return err
		}
		defer proxyListener.Close()
	}
	sim, err := server.New(f.options)
	if err != nil {
		return err
	}
	if err := f.load(sim); err != nil {
		err = errors.Join(err, sim.Close())
		if f.snapshot != "" && f.options.StateDir != "" {
			// This start has made the state, and the next one may use --snapshot again.
			err = errors.Join(err, os.RemoveAll(f.state()))
		}
		return err
	}
	defer sim.Close()
	// Long polls and slow operations are normal here, so only the header has a time limit.
	main := &http.Server{Handler: sim.Handler(), TLSConfig: sim.TLSConfig(), ReadHeaderTimeout: 30 * time.Second}
	failed := make(chan error, 2)
	go func() { failed <- main.ServeTLS(listener, "", "") }()
	servers := []*http.Server{main}
	if proxyListener != nil {
		proxy := &http.Server{Handler: sim.ProxyHandler(listener.Addr().String()), ReadHeaderTimeout: 30 * time.Second}
		go func() { failed <- proxy.Serve(proxyListener) }()
		servers = append(servers, proxy)
	}
	fmt.Printf("azuresim is ready at https://%s\n", listener.Addr())
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	for _, s := range servers {
		if err := s.Shutdown(grace); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
	return nil
}

// listen opens the listener of a flag.
func listen(flag, address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s %s: another program uses this address. Stop that program or choose another address", flag, address)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, address, err)
	}
	return listener, nil
}

// load reads the snapshot and the faults.
func (f *flags) load(sim *server.Server) error {
	if f.snapshot != "" {
		if err := restore(sim, f.snapshot); err != nil {
			return err
		}
	}
	if f.faultFile == "" {
		return nil
	}
	raw, err := os.ReadFile(f.faultFile)
	if err != nil {
		return fmt.Errorf("fault file: %w", err)
	}
	return sim.LoadFaults(raw)
}

// state returns the folder of the state directory that has the resources.
func (f *flags) state() string { return filepath.Join(f.options.StateDir, "state") }

// complete reads the files that flags name.
func (f *flags) complete() error {
	if scale := f.options.TimeScale; !(scale >= 0 && scale <= maxTimeScale) {
		return fmt.Errorf("--time-scale is %v. Choose 1 for Azure's measured durations, 0 for none, or another number up to %d", scale, maxTimeScale)
	}
	for _, p := range f.principals {
		principal, err := parsePrincipal(p)
		if err != nil {
			return err
		}
		f.options.Principals = append(f.options.Principals, principal)
	}
	if err := f.checkOwners(); err != nil {
		return err
	}
	if f.snapshot != "" && f.hasState() {
		// The snapshot would replace acknowledged writes at every restart.
		return fmt.Errorf("--snapshot: the state directory %s has a state already; remove %s, or leave --snapshot out to go on with it",
			f.options.StateDir, f.state())
	}
	if f.controlTokenFile != "" {
		raw, err := os.ReadFile(f.controlTokenFile)
		if err != nil {
			return fmt.Errorf("control token: %w", err)
		}
		if f.options.ControlToken = strings.TrimSpace(string(raw)); f.options.ControlToken == "" {
			return fmt.Errorf("control token: %s is empty", f.controlTokenFile)
		}
	}
	return nil
}

// checkOwners refuses a simulator in which no caller could ever assign a role. A state has the role assignments of its former owners.
func (f *flags) checkOwners() error {
	if !f.options.EnforceRBAC {
		if len(f.options.Owners) > 0 {
			return errors.New("--owner has no effect without --enforce-rbac: add that flag or remove --owner")
		}
		return nil
	}
	if len(f.options.Owners) == 0 && !f.hasState() && f.snapshot == "" {
		return errors.New("--enforce-rbac needs an --owner, because without one no caller could assign a role")
	}
	clients := []string{server.DefaultClientID}
	if len(f.options.Principals) > 0 {
		clients = nil
		for _, principal := range f.options.Principals {
			clients = append(clients, principal.ClientID)
		}
	}
	for _, owner := range f.options.Owners {
		if !f.hasState() && !slices.ContainsFunc(clients, func(client string) bool { return strings.EqualFold(client, owner) }) {
			return fmt.Errorf("--owner %s: no application has this client ID. Add it with --principal, or name one of %s", owner,
				strings.Join(clients, ", "))
		}
	}
	return nil
}

// hasState reports whether the state directory has the resources of an earlier start.
func (f *flags) hasState() bool {
	if f.options.StateDir == "" {
		return false
	}
	_, err := os.Stat(f.state())
	return err == nil
}

func restore(sim *server.Server, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("--snapshot: %w", err)
	}
	defer file.Close()
	if err := sim.Restore(file); err != nil {
		return fmt.Errorf("--snapshot %s: %w", path, err)
	}
	return nil
}

// parsePrincipal never repeats the secret in an error.
func parsePrincipal(s string) (server.Principal, error) {
	parts := strings.Split(s, ":")
	if len(parts) < 2 || len(parts) > 3 || parts[0] == "" {
		return server.Principal{}, errors.New("--principal must be clientID:secret[:objectID] or clientID:@file[:objectID]")
	}
	p := server.Principal{ClientID: parts[0], Secret: parts[1]}
	if len(parts) == 3 {
		p.ObjectID = parts[2]
	}
	if file, ok := strings.CutPrefix(p.Secret, "@"); ok {
		raw, err := os.ReadFile(file)
		if err != nil {
			return server.Principal{}, fmt.Errorf("secret of principal %s: %w", p.ClientID, err)
		}
		p.Secret = strings.TrimSpace(string(raw))
	}
	return p, nil
}
