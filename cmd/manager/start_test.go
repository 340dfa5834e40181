package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest/ports"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// asManager runs this program as the manager, so that main is tested.
const asManager = "RUN_AS_MANAGER"

var environment *harness.Environment

func TestMain(m *testing.M) {
	if os.Getenv(asManager) != "" {
		main()
		return
	}
	os.Exit(harness.RunTests(m, &environment))
}

// deployed are the arguments of a Deployment that sets everything that the established provider knows, each to another value
// than its default where that leaves a manager to test.
var deployed = []string{
	"--leader-elect", "--leader-election-namespace=default",
	"--leader-elect-lease-duration=16s", "--leader-elect-renew-deadline=11s", "--leader-elect-retry-period=3s",
	"--namespace=deployed", "--watch-filter=one",
	"--azurecluster-concurrency=5", "--azuremachine-concurrency=6", "--azuremachinepool-concurrency=7",
	"--azuremachinepoolmachine-concurrency=8",
	"--debouncing-timer=11s", "--sync-period=11m",
	"--reconcile-timeout=91m", "--service-reconcile-timeout=13s", "--api-call-timeout=3s", "--reconciler-requeue=16s",
	"--enable-tracing", "--bootstrap-config-gvk=KubeadmConfig.v1beta1.bootstrap.cluster.x-k8s.io",
	"--disable-controllers-or-webhooks=DisableASOSecretController,DisableAzureJSONMachineController",
	"--insecure-diagnostics", "--tls-min-version=VersionTLS13", "--tls-cipher-suites=TLS_AES_128_GCM_SHA256", "--tls-curve-preferences=29",
	// klog's, with underscores and with hyphens.
	"--v=3", "--vmodule=main=4", "--logtostderr=true", "--alsologtostderr=false", "--alsologtostderrthreshold=1", "--stderrthreshold=2",
	"--log_dir=logs", "--log-file=log", "--log_file_max_size=1", "--add_dir_header=false", "--skip_headers=false", "--skip-log-headers=true",
	"--one_output=false", "--log_backtrace_at=main.go:1", "--legacy_stderr_threshold_behavior=true",
	"--logging-format=text", "--log-flush-frequency=6s",
}

// gates are those of the established provider, its own and Cluster API's, with the value that is not the default.
var gates = []string{
	"MachinePool=false", "ASOAPI=false", "AKSResourceHealth=true", "EdgeZone=true", "APIServerILB=true",
	"SkipMachinePoolModelReconciliation=true", "AKS=true",
	"MachineSetPreflightChecks=false", "ClusterTopology=true", "KubeadmBootstrapFormatIgnition=true", "RuntimeSDK=true", "InPlaceUpdates=true",
	"MachineTaintPropagation=true", "PriorityQueue=false", "ReconcilerRateLimiting=false",
	"MachineWaitForVolumeDetachConsiderVolumeAttachments=false",
}

// variables are the environment of its container, including variables that users add.
var variables = []string{
	"NODE_NAME=node", "POD_NAME=capz-controller-manager-0", "POD_NAMESPACE=capz-system", "POD_UID=uid",
	"AZURE_SUBSCRIPTION_ID=00000000-0000-0000-0000-000000000001", "AZURE_TENANT_ID=00000000-0000-0000-0000-000000000002",
	"AZURE_CLIENT_ID=00000000-0000-0000-0000-000000000003", "AZURE_CLIENT_SECRET=secret",
	"AZURE_AUTHORITY_HOST=https://login.microsoftonline.com/", "AZURE_RESOURCE_MANAGER_ENDPOINT=https://management.azure.com",
	"AZURE_RESOURCE_MANAGER_AUDIENCE=https://management.azure.com/", "AZURE_SYNC_PERIOD=1h",
	"AZURE_USER_AGENT_SUFFIX=cluster-api-provider-azure/v1",
	"AZURE_FEDERATED_TOKEN_FILE=/var/run/secrets/azure/tokens/azure-identity-token",
	"EXP_MACHINE_POOL=true", "EXP_ASO_API=true", "EXP_AKS_RESOURCE_HEALTH=true", "EXP_EDGEZONE=true", "EXP_APISERVER_ILB=true",
	"EXP_SKIP_MACHINE_POOL_MODEL_RECONCILIATION=true",
}

// TestStart starts the manager as Deployments do: with everything at once, and with nothing.
func TestStart(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason           string
		arguments        []string
		variables        []string
		pointless, heard []string
	}{
		"everything": {
			reason:    "a change of a Deployment's image keeps its arguments",
			arguments: append(append([]string{}, deployed...), "--feature-gates="+strings.Join(gates, ",")), variables: variables,
			pointless: []string{
				"--bootstrap-config-gvk", "--azuremachinepoolmachine-concurrency", "--debouncing-timer", "--reconcile-timeout",
				"--service-reconcile-timeout", "--api-call-timeout", "--reconciler-requeue",
				"--disable-controllers-or-webhooks=DisableASOSecretController",
				"--feature-gates=SkipMachinePoolModelReconciliation", "--feature-gates=MachineSetPreflightChecks",
				"--feature-gates=ClusterTopology", "--feature-gates=KubeadmBootstrapFormatIgnition", "--feature-gates=RuntimeSDK",
				"--feature-gates=InPlaceUpdates", "--feature-gates=MachineTaintPropagation", "--feature-gates=PriorityQueue",
				"--feature-gates=ReconcilerRateLimiting", "--feature-gates=MachineWaitForVolumeDetachConsiderVolumeAttachments",
			},
		},
		"nothing": {reason: "defaults need no word in the log"},
		"JSON and a value without =": {
			reason: "it was always ignored", arguments: []string{"--logging-format=json", "--leader-elect=false", "true"},
			heard: []string{`"arguments":["true"]`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := startUntilReady(t, test.arguments, test.variables)
			for _, set := range test.pointless {
				if got := strings.Count(log, `set="`+set+":"); got != 1 {
					t.Errorf("%s: the log has %d notes that %s has no effect, want one", test.reason, got, set)
				}
			}
			if got := strings.Count(log, "Accepted and without effect"); got != len(test.pointless) {
				t.Errorf("%s: the log has %d notes of flags without effect, want %d", test.reason, got, len(test.pointless))
			}
			for _, text := range test.heard {
				if !strings.Contains(log, text) {
					t.Errorf("%s: the log lacks %s", test.reason, text)
				}
			}
			if t.Failed() {
				t.Log(log)
			}
		})
	}
}

// TestEnds starts the manager with arguments with which it ends at once: mistakes, and requests for help.
func TestEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason    string
		arguments []string
		fails     bool
		output    string
	}{
		"unknown gate": {"an unknown gate is not ignored",
			[]string{"--feature-gates=EdgeZone=true,EdgeZones=true"}, true, "unrecognized feature gate: EdgeZones (--help lists the flags)\n"},
		"unknown flag": {"as with gates", []string{"--azure-cluster-concurrency=1"}, true,
			"unknown flag: --azure-cluster-concurrency (--help lists the flags)\n"},
		"unknown controller": {"as with gates", []string{"--disable-controllers-or-webhooks=All"}, true, `"All" is not known`},
		"help": {"it is no mistake", []string{"--help"}, false,
			"\nIneffective flags:\n\n      --api-call-timeout duration"},
		"version": {"users of an image need its version", []string{"--version"}, false, "dev\n"},
		"migration": {"the init container of the second operator has the manager's image, and its pod starts when that is done",
			[]string{"migrate-aso-crds"}, false, "Nothing to migrate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command, out := newManagerProcess(t, test.arguments, nil)
			err := command.Run()
			if failed := err != nil; failed != test.fails {
				t.Errorf("%s: ended with %v", test.reason, err)
			}
			if !strings.Contains(out.String(), test.output) {
				t.Errorf("%s: the output lacks %q:\n%s", test.reason, test.output, out)
			}
		})
	}
}

// newManagerProcess returns a process of the manager that has not been started.
func newManagerProcess(t *testing.T, arguments, variables []string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := &bytes.Buffer{}
	command := exec.CommandContext(t.Context(), program, arguments...)
	command.Dir = t.TempDir()
	command.Env = append([]string{asManager + "=true", "KUBECONFIG=" + environment.WriteKubeconfig(t, command.Dir)}, variables...)
	command.Stdout, command.Stderr = out, out
	return command, out
}

// startUntilReady runs the manager until it is ready, ends it like a kubelet, and returns its log.
func startUntilReady(t *testing.T, arguments, variables []string) string {
	t.Helper()
	health := ports.Free(t)
	_, webhooks, err := net.SplitHostPort(ports.Free(t))
	if err != nil {
		t.Fatal(err)
	}
	arguments = append([]string{
		"--health-addr=" + health, "--diagnostics-address=" + ports.Free(t), "--profiler-address=" + ports.Free(t),
		"--webhook-port=" + webhooks, "--webhook-cert-dir=" + environment.CertificateFolder(),
	}, arguments...)
	command, out := newManagerProcess(t, arguments, variables)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	if err := awaitReady("http://"+health+"/readyz", ended); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatalf("ended with %v\n%s", err, out)
	}
	if logs, err := os.ReadDir(filepath.Join(command.Dir, "logs")); err == nil && len(logs) > 0 {
		t.Errorf("logs go to files, although --logtostderr=true: %v", logs)
	}
	return out.String()
}

// awaitReady waits until the manager reports that it is ready, or exits.
func awaitReady(url string, ended <-chan error) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	late := time.After(harness.Patience)
	for {
		select {
		case err := <-ended:
			return fmt.Errorf("the manager ended: %v", err)
		case <-late:
			return fmt.Errorf("the manager is not ready after %s", harness.Patience)
		case <-tick.C:
			response, err := http.Get(url)
			if err != nil {
				continue
			}
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
}
