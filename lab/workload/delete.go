package workload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// DeleteCluster deletes a cluster and waits until nothing of it is left.
func DeleteCluster(ctx context.Context, s *settings.Settings, name string, timeout time.Duration, screen Screen) error {
	begin := time.Now()
	defer screen.Close()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	kube, err := management.NewCachedClient(ctx, s)
	if err != nil {
		return err
	}
	root, err := LoadCluster(ctx, kube, management.Namespace, name)
	if err != nil {
		return err
	}
	if root == nil {
		return fmt.Errorf("there is no Cluster %s", name)
	}
	if err := kube.Delete(ctx, root.raw, client.PropagationPolicy("Background")); err != nil {
		return err
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		next, err := LoadCluster(ctx, kube, management.Namespace, name)
		if err == nil {
			root = next
			screen.Show(root, time.Since(begin))
			if root == nil {
				return removeTimes(s, name)
			}
		} else if ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return notDeleted(s, root, name, timeout, ctx.Err())
		case <-tick.C:
		}
	}
}

// notDeleted returns the error of a cluster that is not gone in time.
func notDeleted(s *settings.Settings, root *Object, name string, timeout time.Duration, err error) error {
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w before Cluster %s was gone. Its deletion continues", ErrInterrupted, name)
	}
	return fmt.Errorf("deleting Cluster %s takes longer than %s: %w", name, timeout, lastProblem(s, root))
}

func lastProblem(s *settings.Settings, root *Object) error {
	if cause := FindCause(root, nil); cause != nil {
		return errors.New(cause.DescribeWithLog(s.LogPath))
	}
	return errors.New("no object has a condition with the cause")
}
