package kubelet

import (
	"strconv"

	"sigs.k8s.io/cluster-api-provider-azure/lab/pki"
	"sigs.k8s.io/cluster-api-provider-azure/lab/process"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// Difference is one way in which a manager that is a process differs from one in a pod. The book has the same table.
type Difference struct {
	// Of is what differs, Pod how it is in a pod, Process how it is here.
	Of, Pod, Process string
	// make writes it into the process; nil if neither the command line nor the environment shows it.
	make func(p place, spec *process.Spec)
}

// Differences are all there are: nothing else adds an argument or a variable to those of the pod template.
var Differences = []Difference{
	{
		Of: "Image", Pod: "the image of the Deployment", Process: "the program of the same commit in `bin/`",
		make: func(p place, spec *process.Spec) { spec.Path = p.BinaryPath(p.manager.Binary) },
	},
	{
		Of: "Replicas", Pod: "those of the Deployment", Process: "one, or none if the Deployment has 0",
	},
	{
		Of: "API server and token", Pod: "`KUBERNETES_SERVICE_HOST`, and a token of the ServiceAccount in a mount",
		Process: "`--kubeconfig`, with a token of the ServiceAccount in a file",
		make: func(p place, spec *process.Spec) {
			spec.Args = append(spec.Args, "--kubeconfig="+p.filePath(kubeconfigFile))
		},
	},
	{
		Of: "Namespace of the lease", Pod: "in the same mount",
		Process: "`--leader-election-namespace`; Cluster API's managers have no such flag, and take no lease: `--leader-elect=false`",
		make: func(p place, spec *process.Spec) {
			if p.manager.Name == settings.Azure.Name {
				spec.Args = append(spec.Args, "--leader-election-namespace="+p.deployment.Namespace)
				return
			}
			spec.Args = append(spec.Args, "--leader-elect=false")
		},
	},
	{
		Of: "Ports", Pod: "those of the pod's own address",
		Process: "ports of the lab: `--webhook-port`, `--health-addr`, `--diagnostics-address`",
		make: func(p place, spec *process.Spec) {
			spec.Args = append(spec.Args, "--webhook-port="+strconv.Itoa(p.WebhookPort(p.manager)),
				"--health-addr="+p.HealthAddress(p.manager), "--diagnostics-address="+p.DiagnosticsAddress(p.manager))
		},
	},
	{
		Of: "Webhooks and conversions", Pod: "reached through a Service", Process: "reached at `https://127.0.0.1:PORT`",
	},
	{
		Of: "Webhook certificate", Pod: "a Secret that cert-manager makes, in a mount",
		Process: "`--webhook-cert-dir`, from the lab's CA",
		make: func(p place, spec *process.Spec) {
			spec.Args = append(spec.Args, "--webhook-cert-dir="+p.JoinPath("pki", pki.WebhookDir))
		},
	},
	{
		Of: "Projected tokens", Pod: "in mounts", Process: "in files of `.lab/pods/`; `AZURE_FEDERATED_TOKEN_FILE` names the one for Entra ID",
		make: func(p place, spec *process.Spec) {
			for _, token := range p.projectedTokens() {
				if token.audience == federatedAudience {
					spec.Env = append(spec.Env, "AZURE_FEDERATED_TOKEN_FILE="+token.file)
				}
			}
		},
	},
	{
		Of: "Traces", Pod: "none, unless a collector is set", Process: "with `lab up --traces`, `OTEL_EXPORTER_OTLP_ENDPOINT` names the lab's collector",
		make: func(p place, spec *process.Spec) {
			if p.Traces && p.manager.Name == settings.Azure.Name {
				spec.Env = append(spec.Env, "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+p.TraceAddress())
			}
		},
	},
	{
		Of: "Azure and workload clusters", Pod: "behind public names and CAs",
		Process: "in the simulated network: `HTTPS_PROXY`, `NO_PROXY`, `SSL_CERT_FILE`",
		make: func(p place, spec *process.Spec) {
			spec.Env = append(spec.Env, "HTTPS_PROXY="+p.ProxyURL(), "NO_PROXY=127.0.0.1,localhost", "SSL_CERT_FILE="+p.CABundle())
		},
	},
	{
		Of: "Files", Pod: "a file system of its own, read only", Process: "this machine's; `HOME` and `TMPDIR` are `.lab/`",
		make: func(p place, spec *process.Spec) { spec.Env = append(spec.Env, "HOME="+p.Dir, "TMPDIR="+p.Dir) },
	},
	{
		Of: "Limits, security context, network policy, disruption budget", Pod: "enforced by the cluster", Process: "not enforced",
	},
}

// federatedAudience is what Entra ID wants of a token: https://learn.microsoft.com/entra/workload-id/workload-identity-federation
const federatedAudience = "api://AzureADTokenExchange"
