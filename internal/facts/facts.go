package facts

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"time"

	"golang.org/x/sync/errgroup"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/version"
)

// Reader reads one resource. Nil without an error means that the resource does not exist.
type Reader func(ctx context.Context, c *client.Client, id arm.ID, options observe.ReadOptions) (json.RawMessage, error)

// Options configure Facts. The zero value is usable.
type Options struct {
	// Read reads the resources of a cluster. The composition root sets it to the engine's shared reads, so that many machines cost
	// one LIST. With nil, each resource costs one GET.
	Read Reader
	// Unchanged lets answers be kept for longer. With nil they are not.
	Unchanged Unchanged
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// TTL is the maximum age of the SKU catalog and the regions; 0 means 24 hours. Newly granted sizes are found after it without a
	// restart. The minimum is ten minutes, because Azure takes seconds for the catalog.
	TTL time.Duration
	// Wait has ClusterFacts wait for the SKU catalog. Plans of kubectl-capz set it: nothing wakes them.
	Wait bool
	// Catalogs are SKU catalogs that several Facts share; nil has the Facts keep their own.
	Catalogs *Catalogs
}

// Catalogs are the SKU catalogs of regions. They are safe for concurrent use.
type Catalogs struct {
	byKey *answerCache[*catalog]
	sizes *sizePool
}

// NewCatalogs returns Catalogs that list anew what is older than ttl.
func NewCatalogs(ttl time.Duration, now func() time.Time) *Catalogs {
	return newCatalogs(ttl, maxCatalogs, now)
}

func newCatalogs(ttl time.Duration, maxEntries int, now func() time.Time) *Catalogs {
	return &Catalogs{byKey: newAnswerCache[*catalog](ttl, maxEntries, now), sizes: sizes}
}

// catalogTTL is the minimum of Options.TTL.
const catalogTTL = 10 * time.Minute

// Facts answers questions. It is safe for concurrent use. A process has one.
type Facts struct {
	read      func(ctx context.Context, caller Caller, id arm.ID) (json.RawMessage, error)
	failures  *failures
	skus      *answerCache[*catalog]
	sizes     *sizePool // Of the catalogs.
	wait      bool      // That of the options.
	regions   *answerCache[*regions]
	versions  *answerCache[version.Offered]
	ports     *portReservations
	scaleSets *answerCache[[]scaleSet]
	// poolScaleSets are the scale sets of a resource group, poolInstances their instances, kubeconfigs the hashes of the last
	// answers.
	poolScaleSets *unchangedCache[[]scaleSet]
	poolInstances *unchangedCache[[]poolInstance]
	kubeconfigs   *unchangedCache[[sha256.Size]byte]
	// recentKubeconfigs are hashes of kubeconfigs by the state of the cluster at the time.
	recentKubeconfigs *answerCache[[sha256.Size]byte]
	// completePools are the instances of pools with all their nodes, by the state of the pool at the time.
	completePools *answerCache[[]arm.ID]
}

// New returns Facts with empty caches.
func New(options Options) *Facts {
	if options.Read == nil {
		options.Read = getResource
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.TTL <= 0 {
		options.TTL = 24 * time.Hour
	}
	options.TTL = max(options.TTL, catalogTTL)
	failed := newFailures(options.Now)
	if options.Catalogs == nil {
		options.Catalogs = NewCatalogs(options.TTL, options.Now)
	}
	return &Facts{
		failures: failed,
		read: func(ctx context.Context, caller Caller, id arm.ID) (json.RawMessage, error) {
			return askUnlessFailed(ctx, failed, caller, caller.scopedKey(id.Key()), func(ctx context.Context) (json.RawMessage, error) {
				return options.Read(ctx, caller.Client, id, caller.Read)
			})
		},
		skus:              options.Catalogs.byKey,
		sizes:             options.Catalogs.sizes,
		wait:              options.Wait,
		regions:           newAnswerCache[*regions](options.TTL, maxAnswers, options.Now),
		versions:          newAnswerCache[version.Offered](options.TTL, maxAnswers, options.Now),
		ports:             newPortReservations(options.Now),
		scaleSets:         newAnswerCache[[]scaleSet](scaleSetsTTL, maxAnswers, options.Now),
		recentKubeconfigs: newAnswerCache[[sha256.Size]byte](kubeconfigTTL, maxAnswers, options.Now),
		completePools:     newAnswerCache[[]arm.ID](instancesTTL, maxAnswers, options.Now),
		poolInstances:     newUnchangedCache[[]poolInstance](options, false), kubeconfigs: newUnchangedCache[[sha256.Size]byte](options, false),
		poolScaleSets: newUnchangedCache[[]scaleSet](options, true),
	}
}

// ClusterFacts returns the facts for the plan of a cluster. For an unknown region it returns a *field.Error on spec.location with
// the most similar names, for an unknown subscription the *arm.Error of Azure. It does not use in.Facts.
//
// Azure takes seconds for the SKU catalog with the zones, and most of a network does not depend on it. ClusterFacts does not wait
// for it, unless Options.Wait is set: until it is cached ZonesPending is set, and wake is called when it has arrived.
func (f *Facts) ClusterFacts(ctx context.Context, caller Caller, in plan.ClusterInput, wake func()) (plan.ClusterFacts, error) {
	var facts plan.ClusterFacts
	subscription, location := in.SubscriptionID, plan.Location(in)
	catalog, known, zonesErr := f.skus.startAsking(ctx, caller, catalogKey(caller, subscription, location),
		f.listCatalog(caller.Client, subscription, location), f.wait, wake)
	if known {
		facts.Zones = catalog.zones
		if size := catalog.sizeNamed(in.ControlPlaneSize); size != nil {
			facts.ControlPlaneZones = size.Zones
		}
	}
	if facts.ZonesPending = !known; !known {
		facts.ZonesError = f.skus.failures.lastError(catalogKey(caller, subscription, location))
	}
	var regionErr error
	var group errgroup.Group
	group.Go(func() error {
		regionErr = f.checkClusterRegion(ctx, caller, in)
		return nil
	})
	group.Go(func() (err error) {
		if id := plan.VNetResourceGroupID(in); id.Equal(plan.ResourceGroupID(in)) {
			// The plan needs the group next, and an absent group has no contents to read. The next read reports an error.
			_, _ = f.read(ctx, caller, id)
		}
		facts.VNet, err = f.ReadClusterVNet(ctx, caller, in)
		return err
	})
	group.Go(func() (err error) {
		facts.InternalFrontends, err = f.readInternalFrontends(ctx, caller, in)
		return err
	})
	err := group.Wait()
	// An unknown region or subscription is the cause of every other error.
	if regionErr != nil {
		return facts, regionErr
	}
	if zonesErr != nil {
		return facts, zonesErr
	}
	return facts, err
}

// MachineFacts returns the facts for the plan of a machine. A VM size that is not in the catalog is not an error: VMSize is nil
// then, and NearestVMSizes are the most similar names. It does not use in.Facts and in.MachineFacts.
//
// The SSH port of a control-plane machine is reserved in memory until ReleaseMachine, so that machines planned concurrently get
// different ports. power asks for the power state as it is now.
func (f *Facts) MachineFacts(ctx context.Context, caller Caller, in plan.MachineInput, power bool) (plan.MachineFacts, error) {
	var facts plan.MachineFacts
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		catalog, err := f.clusterCatalog(ctx, caller, in.ClusterInput)
		if err != nil {
			return err
		}
		facts.MaximumPlatformFaultDomainCount = catalog.faultDomains
		facts.VMSize, facts.NearestVMSizes = catalog.findSize(in.AzureMachine.Spec.VMSize)
		return nil
	})
	group.Go(func() (err error) {
		facts.VMExists, facts.PrincipalID, facts.PowerState, err = f.readVM(ctx, caller, in, power)
		return err
	})
	group.Go(func() (err error) {
		facts.SSHNATPort, err = f.reserveSSHPort(ctx, caller, in)
		return err
	})
	group.Go(func() (err error) {
		facts.VNet, err = f.ReadClusterVNet(ctx, caller, in.ClusterInput)
		return err
	})
	group.Go(func() (err error) {
		facts.AddressDetached, err = f.isAddressDetached(ctx, caller, in)
		return err
	})
	err := group.Wait()
	return facts, err
}

// DeletingMachineFacts returns the facts for the deletion of a machine: whether its availability set becomes empty. In a region with
// zones there is no availability set, and nothing is read.
func (f *Facts) DeletingMachineFacts(ctx context.Context, caller Caller, in plan.MachineInput) (plan.MachineFacts, error) {
	name, ok := plan.AvailabilitySetName(in)
	if !ok || len(in.Facts.Zones) > 0 {
		return plan.MachineFacts{}, nil
	}
	empty, err := f.isEmptyExcept(ctx, caller, plan.AvailabilitySetID(in, name), plan.VMID(in))
	return plan.MachineFacts{AvailabilitySetEmpty: empty}, err
}
