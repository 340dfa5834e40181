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

// filePath returns one of the process's own.
func (p place) filePath(elements ...string) string {
	return p.JoinPath(append([]string{"pods", p.manager.Name}, elements...)...)
}

func (p place) podSpec() *corev1.PodSpec { return &p.deployment.Spec.Template.Spec }

// secretReader is the value of a key of a Secret in the Deployment's namespace.
type secretReader func(name, key string) (value string, err error)

// processSpec returns the process that the pod template asks for.
func (p place) processSpec(secret secretReader) (process.Spec, error) {
	out := process.Spec{Name: p.manager.Name, Log: p.LogPath(p.manager.Name),
		Ready: process.ReadyURL("http://"+p.HealthAddress(p.manager)+"/readyz", nil)}
	if err := p.checkSupported(); err != nil {
		return out, fmt.Errorf("the Deployment %s: %w", p.deployment.Name, err)
	}
	container := &p.podSpec().Containers[0]
	var expand []string
	for _, variable := range container.Env {
		value, err := p.variableValue(container, variable, secret)
		if err != nil {
			return out, fmt.Errorf("the Deployment %s: variable %s: %w", p.deployment.Name, variable.Name, err)
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

// checkSupported refuses settings that a process cannot have.
func (p place) checkSupported() error {
	pod := p.podSpec()
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

// variableValue is that of a variable.
func (p place) variableValue(container *corev1.Container, variable corev1.EnvVar, secret secretReader) (string, error) {
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
			"spec.nodeName": "lab", "spec.serviceAccountName": p.podSpec().ServiceAccountName, "status.podIP": "127.0.0.1",
		}
		if value, ok := fields[from.FieldRef.FieldPath]; ok {
			return value, nil
		}
		return "", fmt.Errorf("the lab does not know the field %s", from.FieldRef.FieldPath)
	case from.ResourceFieldRef != nil:
		return containerLimit(container, from.ResourceFieldRef)
	}
	return "", fmt.Errorf("the lab reads Secrets, fields and limits only")
}

// containerLimit returns a limit of the container, in units of the divisor and rounded up, as kubelets give it.
func containerLimit(container *corev1.Container, of *corev1.ResourceFieldSelector) (string, error) {
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
	// apiTokenSeconds is the lifetime that kubelets request by default:
	// https://kubernetes.io/docs/concepts/storage/projected-volumes/#serviceaccounttoken
	apiTokenSeconds = 3600
)

// projectedTokens returns the tokens of the pod's volumes.
func (p place) projectedTokens() []token {
	var out []token
	for _, volume := range p.podSpec().Volumes {
		if volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			wanted := token{file: p.filePath(volume.Name, filepath.Base(source.ServiceAccountToken.Path)), audience: source.ServiceAccountToken.Audience,
				seconds: apiTokenSeconds}
			if seconds := source.ServiceAccountToken.ExpirationSeconds; seconds != nil {
				wanted.seconds = *seconds
			}
			out = append(out, wanted)
		}
	}
	return out
}
