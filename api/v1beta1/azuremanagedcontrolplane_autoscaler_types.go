package v1beta1

// Expander is how the cluster autoscaler chooses the pool to grow.
// +kubebuilder:validation:Enum=least-waste;most-pods;priority;random
type Expander string

const (
	// ExpanderLeastWaste takes the pool with the least idle CPU afterwards.
	ExpanderLeastWaste Expander = "least-waste"
	// ExpanderMostPods takes the pool on which the most pods fit.
	ExpanderMostPods Expander = "most-pods"
	// ExpanderPriority takes the pool with the highest priority of a ConfigMap.
	ExpanderPriority Expander = "priority"
	// ExpanderRandom takes any pool.
	ExpanderRandom Expander = "random"
)

// BalanceSimilarNodeGroups is "true" or "false".
// +kubebuilder:validation:Enum="true";"false"
type BalanceSimilarNodeGroups string

// SkipNodesWithLocalStorage is "true" or "false".
// +kubebuilder:validation:Enum="true";"false"
type SkipNodesWithLocalStorage string

// SkipNodesWithSystemPods is "true" or "false".
// +kubebuilder:validation:Enum="true";"false"
type SkipNodesWithSystemPods string

// AutoScalerProfile tunes the cluster autoscaler of an AKS cluster. Durations are whole numbers with m for minutes or s for
// seconds.
type AutoScalerProfile struct {
	// balanceSimilarNodeGroups keeps similar pools equal in size.
	// +optional
	// +kubebuilder:default="false"
	BalanceSimilarNodeGroups *BalanceSimilarNodeGroups `json:"balanceSimilarNodeGroups,omitempty"`

	// expander is how the pool to grow is chosen.
	// +optional
	// +kubebuilder:default=random
	Expander *Expander `json:"expander,omitempty"`

	// maxEmptyBulkDelete is the number of empty nodes that are removed at once.
	// +optional
	// +kubebuilder:default="10"
	MaxEmptyBulkDelete *string `json:"maxEmptyBulkDelete,omitempty"`

	// maxGracefulTerminationSec is how many seconds pods get to end when a node is removed.
	// +optional
	// +kubebuilder:validation:Pattern=`^(\d+)$`
	// +kubebuilder:default="600"
	MaxGracefulTerminationSec *string `json:"maxGracefulTerminationSec,omitempty"`

	// maxNodeProvisionTime is how long a node may take to come up, in minutes: "15m".
	// +optional
	// +kubebuilder:validation:Pattern=`^(\d+)m$`
	// +kubebuilder:default="15m"
	MaxNodeProvisionTime *string `json:"maxNodeProvisionTime,omitempty"`

	// maxTotalUnreadyPercentage is the percentage of unready nodes at which the autoscaler stops.
	// +optional
	// +kubebuilder:validation:Pattern=`^(\d+)$`
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=3
	// +kubebuilder:default="45"
	MaxTotalUnreadyPercentage *string `json:"maxTotalUnreadyPercentage,omitempty"`

	// newPodScaleUpDelay is how old a pod must be before a node is added for it: "0s".
	// +optional
	// +kubebuilder:default="0s"
	NewPodScaleUpDelay *string `json:"newPodScaleUpDelay,omitempty"`

	// okTotalUnreadyCount is the number of unready nodes that is tolerated whatever the percentage.
	// +optional
	// +kubebuilder:validation:Pattern=`^(\d+)$`
	// +kubebuilder:default="3"
	OkTotalUnreadyCount *string `json:"okTotalUnreadyCount,omitempty"`

	// scanInterval is how often the cluster is looked at, in seconds: "10s".
	// +optional
	// +kubebuilder:validation:Pattern=`^(\d+)s$`
	// +kubebuilder:default="10s"
	ScanInterval *string `json:"scanInterval,omitempty"`

	// scaleDownDelayAfterAdd is how long after adding a node none is removed, in minutes: "10m".
	// +optional
	// +kubebuilder:validation:Pattern=`^(\d+)m$`
	// +kubebuilder:default="10m"
	ScaleDownDelayAfterAdd *string `json:"scaleDownDelayAfterAdd,omitempty"`

	// scaleDownDelayAfterDelete is how long after removing a node no other is removed, in seconds: "10s".
	// +optional
	// +kubebuilder:validation:Pattern=`^(\d+)s$`
	// +kubebuilder:default="10s"
	ScaleDownDelayAfterDelete *string `json:"scaleDownDelayAfterDelete,omitempty"`

	// scaleDownDelayAfterFailure is how long after a failed removal none is tried, in minutes: "3m".
	// +optional
	// +kubebuilder:validation:Pattern=`^(\d+)m$`
	// +kubebuilder:default="3m"
	ScaleDownDelayAfterFailure *string `json:"scaleDownDelayAfterFailure,omitempty"`

	// scaleDownUnneededTime is how long a node must be unneeded before it is removed, in minutes: "10m".
	// +optional
	// +kubebuilder:validation:Pattern=`^(\d+)m$`
	// +kubebuilder:default="10m"
	ScaleDownUnneededTime *string `json:"scaleDownUnneededTime,omitempty"`

	// scaleDownUnreadyTime is how long an unready node must be unneeded before it is removed, in minutes: "20m".
	// +optional
	// +kubebuilder:validation:Pattern=`^(\d+)m$`
	// +kubebuilder:default="20m"
	ScaleDownUnreadyTime *string `json:"scaleDownUnreadyTime,omitempty"`

	// scaleDownUtilizationThreshold is the utilization, 0 to 1, below which a node is unneeded.
	// +optional
	// +kubebuilder:default="0.5"
	ScaleDownUtilizationThreshold *string `json:"scaleDownUtilizationThreshold,omitempty"`

	// skipNodesWithLocalStorage keeps nodes whose pods have local storage.
	// +optional
	// +kubebuilder:default="false"
	SkipNodesWithLocalStorage *SkipNodesWithLocalStorage `json:"skipNodesWithLocalStorage,omitempty"`

	// skipNodesWithSystemPods keeps nodes with pods of kube-system.
	// +optional
	// +kubebuilder:default="true"
	SkipNodesWithSystemPods *SkipNodesWithSystemPods `json:"skipNodesWithSystemPods,omitempty"`
}
