package kubelet

import (
	"fmt"
	"path/filepath"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"sigs.k8s.io/cluster-api-provider-azure/lab/process"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// place is where a Deployment runs as a process.
type place struct {
	*settings.Settings
	manager    settings.Manager
	deployment *appsv1.Deployment
}

// file is one of the process's own.
func (p place) file(elements ...string) string {
	return p.Path(append([]string{"pods", p.manager.Name}, elements...)...)
}

func (p place) pod() *corev1.PodSpec { return &p.deployment.Spec.Template.Spec }

// secretReader is the value of a key of a Secret in the Deployment's namespace.
type secretReader func(name, key string) (value string, err error)

// spec is the process that the pod template asks for.
func (p place) spec(secret secretReader) (process.Spec, error) {
	out := process.Spec{Name: p.manager.Name, Log: p.Log(p.manager.Name),
		Ready: process.ReadyURL("http://"+p.HealthAddress(p.manager)+"/readyz", nil)}
	if err := p.check(); err != nil {
		return out, fmt.Errorf("Deployment %s: %w", p.deployment.Name, err)
	}
	container := &p.pod().Containers[0]
	var expand []string
	for _, variable := range container.Env {
		value, err := p.value(container, variable, secret)
		if err != nil {
			return out, fmt.Errorf("Deployment %s: variable %s: %w", p.deployment.Name, variable.Name, err)
		}
		out.Env = append(out.Env, variable.Name+"="+value)
		expand = append(expand, "$("+variable.Name+")", value)
	}
	replacer := strings.NewReplacer(expand...)
	for _, argument := range container.Args {
		out.Args = append(out.Args, replacer.Replace(argument))
	}
	for _, difference := range Differences {
		if difference.make != nil {
			difference.make(p, &out)
		}
	}
	return out, nil
}

// check refuses what a process cannot have.
func (p place) check() error {
	pod := p.pod()
	if len(pod.Containers) != 1 || len(pod.InitContainers) > 0 {
		return fmt.Errorf("has %d containers and %d init containers; the lab runs pods of one container", len(pod.Containers),
			len(pod.InitContainers))
	}
	if len(pod.Containers[0].EnvFrom) > 0 {
		return fmt.Errorf("envFrom: the lab reads variables from env only")
	}
	for _, volume := range pod.Volumes {
		switch {
		case volume.EmptyDir != nil, volume.Secret != nil && strings.HasSuffix(volume.Secret.SecretName, "webhook-service-cert"):
		case volume.Projected != nil:
			for _, source := range volume.Projected.Sources {
				if source.ServiceAccountToken == nil {
					return fmt.Errorf("volume %s: the lab projects tokens of the ServiceAccount only", volume.Name)
				}
			}
		default:
			return fmt.Errorf("volume %s: the lab has the webhook's certificate, projected tokens and empty folders only", volume.Name)
		}
	}
	return nil
}

// value is that of a variable.
func (p place) value(container *corev1.Container, variable corev1.EnvVar, secret secretReader) (string, error) {
	from := variable.ValueFrom
	switch {
	case from == nil:
		return variable.Value, nil
	case from.SecretKeyRef != nil:
		return secret(from.SecretKeyRef.Name, from.SecretKeyRef.Key)
	case from.FieldRef != nil:
		fields := map[string]string{
			"metadata.namespace": p.deployment.Namespace, "metadata.name": p.deployment.Name + "-0",
			// Another Deployment of the same name is another pod, and so another process.
			"metadata.uid":  string(p.deployment.UID),
			"spec.nodeName": "lab", "spec.serviceAccountName": p.pod().ServiceAccountName, "status.podIP": "127.0.0.1",
		}
		if value, ok := fields[from.FieldRef.FieldPath]; ok {
			return value, nil
		}
		return "", fmt.Errorf("the lab does not know the field %s", from.FieldRef.FieldPath)
	case from.ResourceFieldRef != nil:
		return limit(container, from.ResourceFieldRef)
	}
	return "", fmt.Errorf("the lab reads Secrets, fields and limits only")
}

// limit is a limit of the container, in units of the divisor and rounded up, as kubelets give it.
func limit(container *corev1.Container, of *corev1.ResourceFieldSelector) (string, error) {
	name, ok := strings.CutPrefix(of.Resource, "limits.")
	quantity, set := container.Resources.Limits[corev1.ResourceName(name)]
	if !ok || !set {
		return "", fmt.Errorf("the container has no %s", of.Resource)
	}
	divisor := of.Divisor
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	return fmt.Sprint((quantity.Value() + divisor.Value() - 1) / divisor.Value()), nil
}

// token is one of the ServiceAccount's that the process has in a file.
type token struct {
	file, audience string
	seconds        int64
}

const (
	kubeconfigFile = "kubeconfig"
	tokenFile      = "token"
	// apiTokenSeconds is what kubelets ask for when nothing else is said:
	// https://kubernetes.io/docs/concepts/storage/projected-volumes/#serviceaccounttoken
	apiTokenSeconds = 3600
)

// projected are the tokens of the pod's volumes.
func (p place) projected() []token {
	var out []token
	for _, volume := range p.pod().Volumes {
		if volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			wanted := token{file: p.file(volume.Name, filepath.Base(source.ServiceAccountToken.Path)), audience: source.ServiceAccountToken.Audience,
				seconds: apiTokenSeconds}
			if seconds := source.ServiceAccountToken.ExpirationSeconds; seconds != nil {
				wanted.seconds = *seconds
			}
			out = append(out, wanted)
		}
	}
	return out
}
