// Package management starts and stops the management cluster of a lab and everything beside it: etcd, the API server,
// the controller managers, the simulated Azure and the bridge that boots its virtual machines.
package management

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/lab/pki"
	"sigs.k8s.io/cluster-api-provider-azure/lab/process"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
)

// Names of the processes beside the controller managers.
const (
	etcd              = "etcd"
	apiServer         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	azuresim          = simulator.Process
	bridge            = "bridge"
	kubeletProcess    = "kubelet"
	traces            = "traces"
)

// processEnvironment returns what every process gets: nothing of the caller's, so that `lab up` from another shell or editor finds the
// specs of the processes that run and leaves them alone. None of them starts programs, so there is no PATH.
func processEnvironment(s *settings.Settings, more ...string) []string {
	return append([]string{"HOME=" + s.Dir, "TMPDIR=" + s.Dir}, more...)
}

func etcdSpec(s *settings.Settings) process.Spec {
	return process.Spec{
		Name: etcd, Path: s.BinaryPath("etcd"), Log: s.LogPath(etcd), Env: processEnvironment(s),
		// The data is thrown away with the lab, so it need not survive a crash of the machine; short timers elect the only
		// member at once.
		Args: []string{
			"--name=lab", "--data-dir=" + s.JoinPath("etcd"), "--unsafe-no-fsync", "--heartbeat-interval=50", "--election-timeout=500",
			"--listen-client-urls=" + s.EtcdURL(), "--advertise-client-urls=" + s.EtcdURL(),
			"--listen-peer-urls=" + s.EtcdPeerURL(), "--initial-advertise-peer-urls=" + s.EtcdPeerURL(),
			"--initial-cluster=lab=" + s.EtcdPeerURL(), "--log-level=warn",
		},
		Ready: process.ReadyURL(s.EtcdURL()+"/health", nil),
	}
}

func apiServerSpec(s *settings.Settings) process.Spec {
	return process.Spec{
		Name: apiServer, Path: s.BinaryPath("kube-apiserver"), Log: s.LogPath(apiServer),
		// OpenAPI of the many CRDs makes much garbage while they are installed: collecting it as often as Go does by itself
		// takes half of the process's CPU time. Memory stays near the limit.
		Env: processEnvironment(s, "GOGC=400", "GOMEMLIMIT="+cmp.Or(s.APIServerMemory, "1GiB")),
		Args: []string{
			"--etcd-servers=" + s.EtcdURL(), "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
			"--secure-port=" + strconv.Itoa(s.APIServerPort()),
			"--tls-cert-file=" + s.JoinPath("pki", pki.APIServerCert), "--tls-private-key-file=" + s.JoinPath("pki", pki.APIServerKey),
			"--client-ca-file=" + s.JoinPath("pki", pki.CACert),
			"--service-account-key-file=" + s.JoinPath("pki", pki.ServiceAccountPub),
			"--service-account-signing-key-file=" + s.JoinPath("pki", pki.ServiceAccountKey),
			"--service-account-issuer=" + pki.Issuer, "--service-cluster-ip-range=10.96.0.0/16",
			"--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount", "--allow-privileged=true",
			// Some distributions have this plugin on, and so do the tests of Cluster API 1.14: an owner whose deletion is blocked takes a right to
			// its finalizers.
			"--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
			// There are no nodes, and the Kubernetes Service needs no endpoints.
			"--endpoint-reconciler-type=none", "--profiling=false",
			// By default, kube-apiserver begins another file after 100 MB. 0 keeps all lines in one file.
			"--audit-policy-file=" + s.AuditPolicy(), "--audit-log-path=" + s.AuditLog(), "--audit-log-maxsize=0",
		},
		Ready: process.ReadyURL(s.APIServerURL()+"/readyz", nil),
	}
}

func controllerManagerSpec(s *settings.Settings) process.Spec {
	return process.Spec{
		Name: controllerManager, Path: s.BinaryPath("kube-controller-manager"), Log: s.LogPath(controllerManager), Env: processEnvironment(s),
		// Owner references, namespaces and aggregated roles are what Cluster API relies on; nothing here has pods.
		Args: []string{
			"--kubeconfig=" + s.KubeconfigPath(), "--controllers=garbage-collector-controller,namespace-controller,clusterrole-aggregation-controller",
			"--use-service-account-credentials=false", "--leader-elect=false", "--bind-address=127.0.0.1",
			"--secure-port=" + strconv.Itoa(s.ControllerManagerPort()), "--profiling=false",
		},
		Ready: process.ReadyURL(fmt.Sprintf("https://127.0.0.1:%d/healthz", s.ControllerManagerPort()), nil),
	}
}

func azuresimSpec(s *settings.Settings) process.Spec {
	return process.Spec{
		Name: azuresim, Path: s.BinaryPath("azuresim"), Log: s.LogPath(azuresim), Env: processEnvironment(s),
		Args: []string{
			"--listen=" + s.SimulatorAddress(), "--connect-proxy=" + s.ConnectProxyAddress(), "--state-dir=" + s.SimulatorState(),
			"--request-log=" + s.RequestLog(), "--change-log=" + s.ChangeLog(), "--time-scale=" + formatScale(s.TimeScale),
			"--tenant=" + settings.TenantID, "--subscription=" + settings.SubscriptionID,
			"--principal=" + settings.ClientID + ":@" + s.ClientSecretFile() + ":" + settings.ObjectID,
			"--control-token-file=" + s.ControlTokenFile(),
		},
		Ready: func(ctx context.Context) error {
			client, err := simulator.New(s)
			if err != nil {
				return err
			}
			_, err = client.ListGuests(ctx)
			return err
		},
	}
}

func bridgeSpec(s *settings.Settings) process.Spec {
	first, last := s.KubernetesPorts()
	return process.Spec{
		Name: bridge, Path: s.BinaryPath("lab"), Log: s.LogPath(bridge), Env: processEnvironment(s, "GOGC=50"),
		Args: []string{
			"bridge", "--sim=" + s.SimulatorURL(), "--sim-ca=" + s.SimulatorCA(), "--control-token-file=" + s.ControlTokenFile(),
			"--time-scale=" + formatScale(s.TimeScale), fmt.Sprintf("--kubernetes-ports=%d-%d", first, last),
		},
	}
}

// tracesSpec receives the traces of our manager.
func tracesSpec(s *settings.Settings) process.Spec {
	return process.Spec{
		Name: traces, Path: s.BinaryPath("lab"), Log: s.LogPath(traces), Env: processEnvironment(s),
		Args:  []string{"traces", "--listen=" + s.TraceAddress(), "--file=" + s.TraceFile()},
		Ready: process.ReadyURL("http://"+s.TraceAddress()+"/healthz", nil),
	}
}

// kubeletSpec runs the managers as their Deployments specify.
func kubeletSpec(s *settings.Settings) process.Spec {
	return process.Spec{
		Name: kubeletProcess, Path: s.BinaryPath("lab"), Log: s.LogPath(kubeletProcess), Env: processEnvironment(s, "GOGC=50"),
		Args: []string{"kubelet", "--dir=" + s.Dir},
	}
}

// releaseVariables returns the values that the lab gives to the variables of releases, beside feature gates.
func releaseVariables(s *settings.Settings) map[string]string {
	return map[string]string{
		"AZURE_AUTHORITY_HOST":            s.SimulatorURL() + "/",
		"AZURE_RESOURCE_MANAGER_ENDPOINT": s.SimulatorURL(),
		"AZURE_RESOURCE_MANAGER_AUDIENCE": "https://management.core.windows.net/",
		"CAPZ_VERBOSITY":                  strconv.Itoa(s.Verbosity),
	}
}

// AzureEnvironment leads any client that reads these variables to the simulated Azure.
func AzureEnvironment(s *settings.Settings) []string {
	out := []string{
		"AZURE_FEDERATED_TOKEN_FILE=" + s.FederatedTokenFile(),
		"SSL_CERT_FILE=" + s.CABundle(),
	}
	for _, name := range []string{"AZURE_AUTHORITY_HOST", "AZURE_RESOURCE_MANAGER_ENDPOINT", "AZURE_RESOURCE_MANAGER_AUDIENCE"} {
		out = append(out, name+"="+releaseVariables(s)[name])
	}
	return out
}

// ClientEnvironment returns what clients of the lab find the management cluster and the simulated Azure by.
func ClientEnvironment(s *settings.Settings) map[string]string {
	variables := TemplateVariables(s)
	for _, line := range AzureEnvironment(s) {
		name, value, _ := strings.Cut(line, "=")
		variables[name] = value
	}
	variables["KUBECONFIG"] = s.KubeconfigPath()
	// clusterctl reads cluster-api/clusterctl.yaml below it.
	variables["XDG_CONFIG_HOME"] = s.Dir
	variables["CLUSTERCTL_DISABLE_VERSIONCHECK"] = "true"
	variables["HTTPS_PROXY"] = s.ProxyURL()
	variables["NO_PROXY"] = "127.0.0.1,localhost"
	variables["AZURE_CLIENT_SECRET"] = s.ClientSecret
	// The Azure CLI and other Python programs.
	variables["REQUESTS_CA_BUNDLE"] = s.CABundle()
	return variables
}

func formatScale(scale float64) string { return strconv.FormatFloat(scale, 'g', -1, 64) }
