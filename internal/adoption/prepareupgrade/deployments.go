package prepareupgrade

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// OperatorDeployment and ProviderDeployment are names in the established provider. The Deployment of this provider has the name
	// of the second, but never has one of the first beside it.
	OperatorDeployment = "azureserviceoperator-controller-manager"
	ProviderDeployment = "capz-controller-manager"
	// podStopTimeout is the time for pods to stop.
	podStopTimeout = 2 * time.Minute
)

// waitUntilStopped waits until the operator and the established provider have no pods. They would restore removed finalizers, and
// write to resources without the policy skip.
func waitUntilStopped(ctx context.Context, c client.Client) error {
	operators, err := listOperators(ctx, c)
	if err != nil {
		return err
	}
	for _, operator := range operators {
		beside := &appsv1.DeploymentList{}
		if err := c.List(ctx, beside, client.InNamespace(operator.Namespace),
			client.MatchingFields{metav1.ObjectNameField: ProviderDeployment}); err != nil {
			return fmt.Errorf("list Deployments of the established provider: %w", err)
		}
		for _, deployment := range append(beside.Items, operator) {
			if err := waitUntilOneStopped(ctx, c, deployment); err != nil {
				return err
			}
		}
	}
	return nil
}

// WaitUntilOthersStopped waits until operators in other namespaces than that of the established provider have no pods. It stops none of them:
// they belong to users.
func WaitUntilOthersStopped(ctx context.Context, c client.Reader, namespace string) error {
	operators, err := listOperators(ctx, c)
	if err != nil {
		return err
	}
	for _, operator := range operators {
		if operator.Namespace == namespace {
			continue
		}
		if err := waitUntilOneStopped(ctx, c, operator); err != nil {
			return err
		}
	}
	return nil
}

// FindOtherOperators returns the Deployments of operators that run in other namespaces than that of the established provider. They have the
// webhooks and kinds of the operator that the established provider installs.
func FindOtherOperators(ctx context.Context, c client.Reader, namespace string) ([]appsv1.Deployment, error) {
	operators, err := listOperators(ctx, c)
	return slices.DeleteFunc(operators, func(d appsv1.Deployment) bool { return d.Namespace == namespace || !isRunning(d) }), err
}

// listOperators returns the Deployments of operators in all namespaces.
func listOperators(ctx context.Context, c client.Reader) ([]appsv1.Deployment, error) {
	operators := &appsv1.DeploymentList{}
	if err := c.List(ctx, operators, client.MatchingFields{metav1.ObjectNameField: OperatorDeployment}); err != nil {
		return nil, fmt.Errorf("list Deployments of the operator: %w", err)
	}
	return operators.Items, nil
}

func isRunning(deployment appsv1.Deployment) bool {
	return deployment.Spec.Replicas == nil || *deployment.Spec.Replicas > 0
}

// StopCommand returns the command with which a user stops a Deployment.
func StopCommand(deployment appsv1.Deployment) string {
	return fmt.Sprintf("kubectl -n %s scale deployment %s --replicas 0", deployment.Namespace, deployment.Name)
}

// waitUntilOneStopped refuses a Deployment that wants pods, and waits until one that wants none has none.
func waitUntilOneStopped(ctx context.Context, c client.Reader, deployment appsv1.Deployment) error {
	if isRunning(deployment) {
		return fmt.Errorf("the Deployment %s in namespace %s runs. It would undo what this command does. Stop it: %s", deployment.Name,
			deployment.Namespace, StopCommand(deployment))
	}
	return WaitUntilNoPods(ctx, c, deployment)
}

// WaitUntilNoPods waits until the last pod has stopped. A pod that is being deleted still runs for a while. A finished one, such as an
// evicted pod, stays for hours, and none of its containers runs any more:
// https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-phase
func WaitUntilNoPods(ctx context.Context, c client.Reader, deployment appsv1.Deployment) error {
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	if err != nil {
		return fmt.Errorf("selector of Deployment %s: %w", deployment.Name, err)
	}
	var running []string
	err = wait.PollUntilContextTimeout(ctx, time.Second, podStopTimeout, true, func(ctx context.Context) (bool, error) {
		pods := &corev1.PodList{}
		if err := c.List(ctx, pods, client.InNamespace(deployment.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
			return false, err
		}
		running = nil
		for _, pod := range pods.Items {
			if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
				running = append(running, pod.Name)
			}
		}
		return len(running) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("wait until the pods of Deployment %s in namespace %s have stopped: %s: %w", deployment.Name, deployment.Namespace,
			strings.Join(running, ", "), err)
	}
	return nil
}
