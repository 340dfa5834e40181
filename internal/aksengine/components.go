package aksengine

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
)

// flagTable has the flags of a component that are not carried over, with the reason.
type flagTable map[string]string

const (
	managedByKubeadm = "kubeadm sets this flag."
	removed          = "Kubernetes removed this flag, and the component does not start with it."
	cloudOutside     = "cloud-provider-azure runs outside of this component."
	gates            = "Feature gates differ between versions of Kubernetes, and a component does not start with one that it does not know."
)

// mark adds flags with a reason.
func (t flagTable) mark(reason string, flags ...string) flagTable {
	for _, flag := range flags {
		t[flag] = reason
	}
	return t
}

// The flags that are not carried over. Removed flags are those of the change logs of Kubernetes up to 1.34.
var (
	apiServerFlags = flagTable{}.
			mark(managedByKubeadm, "advertise-address", "allow-privileged", "client-ca-file", "etcd-cafile", "etcd-certfile",
			"etcd-keyfile", "etcd-servers",
			"kubelet-client-certificate", "kubelet-client-key", "proxy-client-cert-file", "proxy-client-key-file",
			"requestheader-allowed-names",
			"requestheader-client-ca-file", "requestheader-extra-headers-prefix", "requestheader-group-headers",
			"requestheader-username-headers",
			"secure-port", "service-account-key-file", "service-account-signing-key-file", "service-cluster-ip-range", "tls-cert-file",
			"tls-private-key-file", "authorization-mode").
		mark(removed, "admission-control", "basic-auth-file", "enable-swagger-ui", "experimental-encryption-provider-config",
			"insecure-bind-address",
			"insecure-port", "kubelet-https", "repair-malformed-updates", "service-account-api-audiences", "storage-versions",
			"target-ram-mb",
			"master-service-namespace").
		mark(cloudOutside, "cloud-provider", "cloud-config").
		mark(gates, "feature-gates").
		mark("A file of this name is not on the machines.", "audit-policy-file", "encryption-provider-config",
			"admission-control-config-file", "audit-webhook-config-file").
		mark("Admission plug-ins differ between versions of Kubernetes, and the component does not start with one that it does not know.",
			"enable-admission-plugins", "disable-admission-plugins")
	controllerManagerFlags = flagTable{}.
				mark(managedByKubeadm, "allocate-node-cidrs", "authentication-kubeconfig", "authorization-kubeconfig",
			"client-ca-file", "cluster-cidr",
			"cluster-name", "cluster-signing-cert-file", "cluster-signing-key-file", "controllers", "kubeconfig", "leader-elect",
			"requestheader-client-ca-file", "root-ca-file", "service-account-private-key-file", "service-cluster-ip-range",
			"use-service-account-credentials").
		mark(removed, "pod-eviction-timeout", "port", "address", "horizontal-pod-autoscaler-use-rest-clients", "enable-taint-manager",
			"deleting-pods-qps", "deleting-pods-burst", "register-retry-count", "experimental-cluster-signing-duration",
			"horizontal-pod-autoscaler-downscale-delay", "horizontal-pod-autoscaler-upscale-delay").
		mark(cloudOutside, "cloud-provider", "cloud-config", "route-reconciliation-period", "configure-cloud-routes").
		mark(gates, "feature-gates")
	schedulerFlags = flagTable{}.
			mark(managedByKubeadm, "authentication-kubeconfig", "authorization-kubeconfig", "kubeconfig", "leader-elect").
			mark(removed, "address", "port", "algorithm-provider", "policy-config-file", "policy-configmap", "policy-configmap-namespace",
			"use-legacy-policy-config", "scheduler-name", "hard-pod-affinity-symmetric-weight").
		mark(gates, "feature-gates").
		mark("A file of this name is not on the machines.", "config")
	kubeletFlags = flagTable{}.
			mark(managedByKubeadm, "address", "authentication-token-webhook", "authorization-mode", "anonymous-auth", "client-ca-file",
			"cluster-dns",
			"cluster-domain", "config", "bootstrap-kubeconfig", "kubeconfig", "pod-manifest-path", "rotate-certificates", "tls-cert-file",
			"tls-private-key-file", "container-runtime-endpoint", "cgroup-driver").
		mark(removed, "allow-privileged", "azure-container-registry-config", "cadvisor-port", "container-runtime", "docker-endpoint",
			"dynamic-config-dir", "image-pull-progress-deadline", "keep-terminated-pod-volumes", "network-plugin", "non-masquerade-cidr",
			"pod-infra-container-image", "cni-bin-dir", "cni-conf-dir", "network-plugin-mtu", "hairpin-mode",
			"experimental-allocatable-ignore-eviction").
		mark(cloudOutside, "cloud-config", "cloud-provider").
		mark(gates, "feature-gates")
)

// readArguments returns the flags of a component.
func readArguments(config *value, excluded flagTable, target string) []bootstrapv1.Arg {
	var out []bootstrapv1.Arg
	if config == nil {
		return nil
	}
	for _, key := range config.keys {
		v := config.fields[key]
		flag, isFlag := strings.CutPrefix(key, "--")
		reason := excluded[flag]
		switch {
		case v.isEmpty():
		case !isFlag:
			v.report("It is a manifest of the component, which kubeadm writes.",
				"Set extraArgs, extraVolumes and extraEnvs of the component in the KubeadmControlPlane.")
		case reason != "":
			v.report(reason, "If the default is not right, set the flag that replaces it in "+target+".")
		case len(flag) == 0 || len(flag) > 256 || len(v.text()) > 1024:
			v.report("Cluster API allows flags of 256 and values of 1024 characters.", "Correct the model.")
		default:
			if text := v.carryText(target + "." + flag); text != "" {
				setArgument(&out, flag, text)
			}
		}
	}
	return out
}

func newArgument(name, text string) bootstrapv1.Arg {
	return bootstrapv1.Arg{Name: name, Value: new(text)}
}

// setArgument sets a flag, which replaces an earlier value of it.
func setArgument(arguments *[]bootstrapv1.Arg, name, text string) {
	i := slices.IndexFunc(*arguments, func(a bootstrapv1.Arg) bool { return a.Name == name })
	if i < 0 {
		*arguments = append(*arguments, bootstrapv1.Arg{Name: name})
		i = len(*arguments) - 1
	}
	(*arguments)[i].Value = new(text)
}

// readKubelet returns the settings of kubelets. Taints have a field of their own.
func readKubelet(config *value, target string) kubelet {
	var out kubelet
	if taints := config.get("--register-with-taints"); !taints.isEmpty() {
		parsed, err := parseTaints(taints.text())
		if err != nil {
			taints.report("It is not a list of taints: "+err.Error()+".", "Set taints in "+target+".")
		} else {
			taints.carry(target + ": taints")
			out.taints = parsed
		}
	}
	if labels := config.get("--node-labels"); !labels.isEmpty() {
		kept, all := allowedLabels(labels.text())
		if all {
			labels.carry(target + ": kubeletExtraArgs.node-labels")
		} else {
			labels.report("A kubelet does not start with labels of kubernetes.io that it may not set.",
				"Set such labels in spec.template.metadata.labels of the MachineDeployment.")
		}
		if kept != "" {
			setArgument(&out.arguments, "node-labels", kept)
		}
	}
	for _, flag := range readArguments(config.without("--register-with-taints", "--node-labels"), kubeletFlags,
		target+": kubeletExtraArgs") {
		setArgument(&out.arguments, flag.Name, *flag.Value)
	}
	return out
}

// without returns an object without some fields.
func (v *value) without(names ...string) *value {
	if v == nil {
		return nil
	}
	out := *v
	out.keys = slices.DeleteFunc(slices.Clone(v.keys), func(key string) bool { return slices.Contains(names, key) })
	return &out
}

// parseTaints reads taints as key=value:effect.
func parseTaints(text string) ([]corev1.Taint, error) {
	var out []corev1.Taint
	for part := range strings.SplitSeq(text, ",") {
		pair, effect, ok := strings.Cut(part, ":")
		key, tainted, _ := strings.Cut(pair, "=")
		switch corev1.TaintEffect(effect) {
		case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
		default:
			ok = false
		}
		if !ok || key == "" {
			return nil, fmt.Errorf("a taint has the form key=value:effect")
		}
		out = append(out, corev1.Taint{Key: key, Value: tainted, Effect: corev1.TaintEffect(effect)})
	}
	return out, nil
}

// allowedLabels returns the labels that a kubelet may set, and reports whether these are all. The rule is that of NodeRestriction:
// labels of kubernetes.io and k8s.io are refused but for those of the list.
func allowedLabels(text string) (string, bool) {
	var kept []string
	all := true
	for part := range strings.SplitSeq(text, ",") {
		key, _, _ := strings.Cut(part, "=")
		prefix, _, hasPrefix := strings.Cut(key, "/")
		inDomain := func(domain string) bool { return prefix == domain || strings.HasSuffix(prefix, "."+domain) }
		if hasPrefix && (inDomain("kubernetes.io") || inDomain("k8s.io")) && !inDomain("node.kubernetes.io") && !inDomain("kubelet.kubernetes.io") {
			all = false
			continue
		}
		kept = append(kept, part)
	}
	return strings.Join(kept, ","), all
}
