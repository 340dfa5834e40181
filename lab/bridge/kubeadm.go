package bridge

import (
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	bootstraputil "k8s.io/cluster-bootstrap/token/util"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types/upstream"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types/upstreamhub"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types/upstreamv1beta3"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types/upstreamv1beta4"
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"sigs.k8s.io/cluster-api-provider-azure/internal/userinput"
)

// defaultBindPort is kubeadm's port of the API server.
const defaultBindPort = 6443

var (
	kubeadmCommand = regexp.MustCompile(`(?:^|[;&|\n(]|\b(?:sudo|then|do|exec)\s)\s*(?:/\S*/)?kubeadm\s+(init|join)\b([^;&|\n]*)`)
	configFlag     = regexp.MustCompile(`--config[= ]\s*(\S+)`)
	documentMark   = regexp.MustCompile(`(?m)^---\s*$`)
)

// kubeadmPlan is what kubeadm would do on a machine: init a cluster or join one.
type kubeadmPlan struct {
	ConfigFile string
	// Cluster and Init are set for kubeadm init, Join for kubeadm join.
	Cluster *bootstrapv1.ClusterConfiguration
	// ClusterYAML is the ClusterConfiguration as kubeadm stores it in the kubeadm-config ConfigMap.
	ClusterYAML string
	Extra       upstream.AdditionalData
	Init        *bootstrapv1.InitConfiguration
	Join        *bootstrapv1.JoinConfiguration
	// Uploads tells that the machine writes kubeadm's configurations into the cluster before that.
	Uploads bool
}

func (p *kubeadmPlan) controlPlane() bool { return p.Init != nil || p.Join.ControlPlane != nil }

func (p *kubeadmPlan) nodeRegistration() bootstrapv1.NodeRegistrationOptions {
	if p.Init != nil {
		return p.Init.NodeRegistration
	}
	return p.Join.NodeRegistration
}

// nodeName returns the name kubeadm registers the Node under: nodeRegistration.name or the host name.
func (p *kubeadmPlan) nodeName(hostname string) string {
	if name := p.nodeRegistration().Name; name != "" {
		return strings.ToLower(name)
	}
	return strings.ToLower(hostname)
}

func (p *kubeadmPlan) bindPort() int32 {
	port := int32(0)
	switch {
	case p.Init != nil:
		port = p.Init.LocalAPIEndpoint.BindPort
	case p.Join.ControlPlane != nil:
		port = p.Join.ControlPlane.LocalAPIEndpoint.BindPort
	}
	if port == 0 {
		return defaultBindPort
	}
	return port
}

func (p *kubeadmPlan) certificatesDir() string {
	if p.Cluster != nil && p.Cluster.CertificatesDir != "" {
		return p.Cluster.CertificatesDir
	}
	return "/etc/kubernetes/pki"
}

// nodeTaints returns the Node's taints: kubeadm's own for a control plane unless the list is given, plus
// the kubelet's register-with-taints.
func (p *kubeadmPlan) nodeTaints() ([]corev1.Taint, error) {
	var taints []corev1.Taint
	switch given := p.nodeRegistration().Taints; {
	case given != nil:
		taints = slices.Clone(*given)
	case p.controlPlane():
		taints = []corev1.Taint{{Key: controlPlaneLabel, Effect: corev1.TaintEffectNoSchedule}}
	}
	for _, s := range splitList(p.kubeletArg("register-with-taints")) {
		keyValue, effect, ok := strings.Cut(s, ":")
		if !ok || effect == "" {
			return nil, fmt.Errorf("kubeletExtraArgs register-with-taints: %q is not key=value:effect", s)
		}
		key, value, _ := strings.Cut(keyValue, "=")
		taints = append(taints, corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)})
	}
	return taints, nil
}

// nodeLabels returns those of the kubelet's node-labels flag.
func (p *kubeadmPlan) nodeLabels() (map[string]string, error) {
	labels := map[string]string{}
	for _, s := range splitList(p.kubeletArg("node-labels")) {
		key, value, _ := strings.Cut(s, "=")
		if errs := validation.IsQualifiedName(key); len(errs) > 0 {
			return nil, fmt.Errorf("kubeletExtraArgs node-labels: %q: %s", key, errs[0])
		}
		if errs := validation.IsValidLabelValue(value); len(errs) > 0 {
			return nil, fmt.Errorf("kubeletExtraArgs node-labels: value of %q: %s", key, errs[0])
		}
		labels[key] = value
	}
	return labels, nil
}

func (p *kubeadmPlan) kubeletArg(name string) string {
	value := ""
	for _, a := range p.nodeRegistration().KubeletExtraArgs {
		if a.Name == name && a.Value != nil {
			value = *a.Value
		}
	}
	return value
}

func splitList(s string) []string {
	return slices.DeleteFunc(strings.Split(s, ","), func(e string) bool { return strings.TrimSpace(e) == "" })
}

// kubeadmCommands returns the calls of kubeadm init and join in the order in which the machine makes them, with what follows each.
func kubeadmCommands(script *bootScript) [][]string {
	var out [][]string
	for _, c := range script.Commands {
		out = append(out, kubeadmCommand.FindAllStringSubmatch(c, -1)...)
	}
	return out
}

// planKubeadm finds the kubeadm command among those the machine runs, reads its configuration file
// and checks what kubeadm's preflight would. Errors name the file and the field.
func planKubeadm(script *bootScript) (*kubeadmPlan, error) {
	plan := &kubeadmPlan{}
	verb, file := "", ""
	for _, m := range kubeadmCommands(script) {
		if words := strings.Fields(m[2]); m[1] == "init" && len(words) > 0 && words[0] == "phase" {
			plan.Uploads = plan.Uploads || slices.Equal(words[1:], []string{"upload-config", "all"})
			continue
		}
		verb = m[1]
		f := configFlag.FindStringSubmatch(m[2])
		if f == nil {
			return nil, fmt.Errorf("%s: kubeadm %s has no --config FILE", script.RunBy, verb)
		}
		file = f[1]
		break
	}
	if verb == "" {
		return nil, fmt.Errorf("%s has neither kubeadm init nor kubeadm join: the machine never becomes a Node", script.RunBy)
	}
	written, ok := script.Files[file]
	if !ok {
		return nil, fmt.Errorf("%s: kubeadm %s reads it but %s does not write it (files: %s)", file, verb, script.WrittenBy,
			strings.Join(slices.Sorted(maps.Keys(script.Files)), ", "))
	}
	text, err := written.readContent()
	if err != nil {
		return nil, err
	}
	plan.ConfigFile = file
	if err := plan.readDocuments(string(text)); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := plan.checkVerb(verb); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return plan, nil
}

func (p *kubeadmPlan) checkVerb(verb string) error {
	switch {
	case verb == "init" && p.Init == nil && p.Cluster == nil:
		return fmt.Errorf("holds no InitConfiguration or ClusterConfiguration for kubeadm init")
	case verb == "join" && p.Join == nil:
		return fmt.Errorf("holds no JoinConfiguration for kubeadm join")
	case verb == "init":
		p.Join = nil
		if p.Init == nil {
			p.Init = &bootstrapv1.InitConfiguration{}
		}
		if p.Cluster == nil {
			p.Cluster = &bootstrapv1.ClusterConfiguration{}
		}
		if endpoint := p.Cluster.ControlPlaneEndpoint; endpoint != "" {
			if host, _ := splitEndpoint(endpoint); host == "" {
				return fmt.Errorf("controlPlaneEndpoint %q is not host:port", endpoint)
			}
		}
	default:
		p.Init, p.Cluster = nil, nil
		if err := checkDiscovery(p.Join.Discovery); err != nil {
			return err
		}
	}
	if _, err := p.nodeTaints(); err != nil {
		return err
	}
	_, err := p.nodeLabels()
	return err
}

func checkDiscovery(d bootstrapv1.Discovery) error {
	if d.File.KubeConfigPath != "" {
		return nil
	}
	t := d.BootstrapToken
	if t.APIServerEndpoint == "" {
		return fmt.Errorf("discovery.bootstrapToken.apiServerEndpoint is empty")
	}
	if _, _, err := net.SplitHostPort(t.APIServerEndpoint); err != nil {
		return fmt.Errorf("discovery.bootstrapToken.apiServerEndpoint %q is not host:port", t.APIServerEndpoint)
	}
	if !bootstraputil.IsValidBootstrapToken(t.Token) {
		return fmt.Errorf("discovery.bootstrapToken.token is not of the form [a-z0-9]{6}.[a-z0-9]{16}")
	}
	if len(t.CACertHashes) == 0 && (t.UnsafeSkipCAVerification == nil || !*t.UnsafeSkipCAVerification) {
		return fmt.Errorf("discovery.bootstrapToken.caCertHashes is empty and unsafeSkipCAVerification is not set")
	}
	for _, h := range t.CACertHashes {
		if !caHashPattern.MatchString(h) {
			return fmt.Errorf("discovery.bootstrapToken.caCertHashes: %q is not sha256:<64 hex digits>", h)
		}
	}
	return nil
}

var caHashPattern = regexp.MustCompile(`^(?i)sha256:[0-9a-f]{64}$`)

// readDocuments decodes the kubeadm documents of a configuration file, any API version Cluster API
// writes. Documents of other components (KubeletConfiguration, KubeProxyConfiguration) are passed over.
func (p *kubeadmPlan) readDocuments(text string) error {
	for i, doc := range documentMark.Split(text, -1) {
		if strings.TrimSpace(doc) == "" {
			continue
		}
		var meta struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		}
		if err := userinput.Decode([]byte(doc), nil, &meta); err != nil {
			return fmt.Errorf("document %d is not YAML: %w", i, err)
		}
		gv, err := schema.ParseGroupVersion(meta.APIVersion)
		if err != nil || meta.Kind == "" {
			return fmt.Errorf("document %d has no apiVersion and kind", i)
		}
		if gv.Group != upstreamv1beta4.GroupVersion.Group {
			continue
		}
		if err := p.readDocument(gv, meta.Kind, doc); err != nil {
			return fmt.Errorf("%s %s: %w", meta.APIVersion, meta.Kind, err)
		}
	}
	return nil
}

func (p *kubeadmPlan) readDocument(gv schema.GroupVersion, kind, doc string) error {
	spokes := map[schema.GroupVersion]map[string]conversion.Convertible{
		upstreamv1beta4.GroupVersion: {
			"ClusterConfiguration": &upstreamv1beta4.ClusterConfiguration{},
			"InitConfiguration":    &upstreamv1beta4.InitConfiguration{},
			"JoinConfiguration":    &upstreamv1beta4.JoinConfiguration{},
		},
		upstreamv1beta3.GroupVersion: {
			"ClusterConfiguration": &upstreamv1beta3.ClusterConfiguration{},
			"InitConfiguration":    &upstreamv1beta3.InitConfiguration{},
			"JoinConfiguration":    &upstreamv1beta3.JoinConfiguration{},
		},
	}
	kinds, ok := spokes[gv]
	if !ok {
		return fmt.Errorf("unknown kubeadm API version: use v1beta4 (Kubernetes 1.31 and later) or v1beta3")
	}
	spoke, ok := kinds[kind]
	if !ok {
		return nil
	}
	if err := userinput.DecodeStrict([]byte(doc), nil, spoke); err != nil {
		return err
	}
	switch kind {
	case "ClusterConfiguration":
		hub := &upstreamhub.ClusterConfiguration{}
		if err := spoke.ConvertTo(hub); err != nil {
			return err
		}
		if getter, ok := spoke.(upstream.AdditionalDataGetter); ok {
			getter.GetAdditionalData(&p.Extra)
		}
		p.Cluster, p.ClusterYAML = &hub.ClusterConfiguration, strings.TrimLeft(doc, "\n")
	case "InitConfiguration":
		hub := &upstreamhub.InitConfiguration{}
		if err := spoke.ConvertTo(hub); err != nil {
			return err
		}
		p.Init = &hub.InitConfiguration
	case "JoinConfiguration":
		hub := &upstreamhub.JoinConfiguration{}
		if err := spoke.ConvertTo(hub); err != nil {
			return err
		}
		p.Join = &hub.JoinConfiguration
	}
	return nil
}

// splitEndpoint splits host[:port]; the port defaults to kubeadm's.
func splitEndpoint(endpoint string) (host, port string) {
	host, port, err := net.SplitHostPort(endpoint)
	if err != nil {
		return strings.Trim(endpoint, "[]"), fmt.Sprint(defaultBindPort)
	}
	return host, port
}
