package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration/check"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/clusterapi"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/overlay"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// planFlags are the flags of the plans that a check includes.
type planFlags struct {
	enabled             bool
	gates, subscription string
	unchecked           []string
}

func (f *planFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.enabled, "plan", true, "compute the writes to Azure that this provider would send for each Cluster; it signs in like kubectl capz plan")
	cmd.Flags().StringVar(&f.gates, "feature-gates", "", "feature gates of the next manager, in the form of its flag; default: those of the installed one")
	cmd.Flags().StringSliceVar(&f.unchecked, "unchecked-aso-kinds", nil, "kinds that the flag --unchecked-aso-kinds of the next manager has")
	cmd.Flags().StringVar(&f.subscription, "default-subscription", "", "AZURE_SUBSCRIPTION_ID of the manager, for objects that name no subscription")
}

// findAll runs the check, with plans if they are not left out.
func (f *planFlags) findAll(cmd *cobra.Command, e *environment.Environment, c client.Client, version string,
	findRelease func(context.Context, string) error) (*migration.Report, error) {
	if err := aso.CheckUncheckedKinds(f.unchecked); err != nil {
		return nil, err
	}
	plan, err := f.newPlan(cmd.Context(), e, c)
	if err != nil {
		return nil, err
	}
	messages := text.NewWriter(cmd.ErrOrStderr())
	return check.FindAll(cmd.Context(), check.Options{Reader: c, Version: version, FindRelease: findRelease, Plan: plan, UncheckedASOKinds: f.unchecked,
		Progress: func(line string) { fmt.Fprintln(messages, line) }})
}

// newPlan returns the function that computes plans, nil if the user asks for none. Clusters of one cloud share the answers of Azure.
func (f *planFlags) newPlan(ctx context.Context, e *environment.Environment, c client.Reader) (
	func(context.Context, []client.Object) (*preview.Result, error), error) {
	if !f.enabled {
		return nil, nil
	}
	gates := f.gates
	if gates == "" {
		var err error
		if gates, err = check.ReadGates(ctx, c); err != nil {
			return nil, err
		}
	}
	log.SetLogger(logr.Discard()) // The findings show the reports of the controllers.
	clouds := map[string]*overlay.Live{}
	return func(ctx context.Context, objects []client.Object) (*preview.Result, error) {
		options := preview.Options{Objects: objects, Identity: e.Identity, Gates: gates, UncheckedASOKinds: f.unchecked, Play: clusterapi.PlayRound}
		if f.subscription != "" {
			options.Identity.SubscriptionID = f.subscription
		}
		cloud, err := preview.CloudOf(objects)
		if err != nil {
			return nil, err
		}
		key := strings.ToLower(cloud)
		if clouds[key] == nil {
			live, err := preview.NewLive(e.Identity, e.Transport, e.Credential, cloud)
			if err != nil {
				return nil, err
			}
			clouds[key] = live
		}
		options.Live = clouds[key]
		if err := options.Live.SignIn(ctx); err != nil {
			return nil, err
		}
		outcome, err := preview.Compute(ctx, options)
		if err == nil && !outcome.Settled {
			err = errors.New("the plan is not complete: the objects still changed after the last round")
		}
		return outcome, err
	}, nil
}
