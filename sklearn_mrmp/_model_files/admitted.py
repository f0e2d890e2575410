"""The closed list of classes that a model file may name, and where they are.

The list is what makes loading safe: a file cannot name anything else. A class is imported when a
file needs it, and says by its ``_model_part`` what a file may hold of it. Knows paths; no class.
"""

from importlib import import_module

from sklearn_mrmp._model_files.sklearn_parts import SKLEARN_PARTS

_OWN = """
_mrmp:MrMPClassifier
_targets:TargetEncoding
_text:TokenSequenceVectorizer
_text_encoder:TextEncoder
_tuned_decision.classifier:TunedDecisionClassifier
_voting:SoftVotingMultilabelClassifier
_cli.columns:ColumnReader
_cli.columns:MatrixReader
_baselines.hyperboxes:Hyperboxes
_baselines.mlaram:MLARAMClassifier
_baselines.mlknn:MLKNNClassifier
_baselines.label_chain:LabelChainClassifier
_baselines.label_powerset:LabelPowersetClassifier
_baselines.sparse_neighbors:SparseNeighbors
_baselines.tuned_relevance:TunedBinaryRelevanceClassifier
_baselines.unit_range:UnitRange
_decisions.calibration:Calibration
_decisions.held_out:HeldOutScores
_decisions.goals.costs:LabelCosts
_decisions.goals.floors:PrecisionFloor
_decisions.goals.floors:RecallFloor
_decisions.goals.given:AtLeastOne
_decisions.goals.given:LabelCuts
_decisions.goals.given:TopK
_decisions.goals.measures:FBeta
_decisions.goals.measures:Jaccard
_decisions.rules.cuts:AtLeastOneRule
_decisions.rules.cuts:GlobalThresholdRule
_decisions.rules.cuts:LabelThresholdRule
_decisions.rules.cuts:TopKRule
_decisions.rules.expected_cuts:MacroF1Rule
_decisions.rules.expected_cuts:MicroF1Rule
_decisions.rules.expected_f1:ExpectedF1Rule
_decisions.label_set_model:LabelSetModel
_decisions.rules.label_sets:LabelSetF1Rule
_decisions.rules.label_sets:LabelSetMarginalRule
_decisions.rules.label_sets:LabelSetRule
_decisions.operating_points:OperatingPoints
_decisions.rules.seen_rows:SeenRowRule
_encoders.encoder_file:PretrainedEncoder
_encoders.tunable:TrainedEncoder
_encoders.tunable:TunableEncoder
_ensemble.gain:VoteGain
_ensemble.label_sets:LabelSetVote
_ensemble.row_marks:RowMarks
_ensemble.model:Ensemble
_ensemble.told:ToldVote
_graph.hierarchy:Hierarchy
_graph.value:LabelGraph
_input.features:FeatureInput
_input.presentation:LinearFeatures
_input.presentation:MixedFeatures
_input.sequence:SequenceInput
_input.states:StateInput
_input.text:TextInput
_input.tuned_text:TunedTextInput
_input.vectors:VectorInput
_network.net_file:MultilabelNet
_network.training:TrainedNetwork
_network.voter:NetworkVoter
_peers.lamp:LaMPClassifier
_peers.mlrnn:MLRNNClassifier
_peers.mpvae:MPVAEClassifier
_trust.calibration:LabelCalibrator
_trust.calibration:StepMap
_trust.classifier:CalibratedMultilabelClassifier
_trust.conformal:LabelConformal
_voters.centroids:CentroidVoter
_voters.estimator:EstimatorVoter
_voters.linear:LinearVoter
_voters.neighbors:NeighborVoter
_voters.told_linear:ToldLinearVoter
"""

# Module of each class by the name that files use: its own name, or scikit-learn's with the module.
_modules = {name.split(":")[1]: f"sklearn_mrmp.{name.split(':')[0]}" for name in _OWN.split()}
_modules |= {name: name.rpartition(".")[0] for name in SKLEARN_PARTS}


def admit(cls):
    """Let a class that has a ``_model_part`` into model files; a decorator for other packages."""
    _modules[cls.__name__] = cls.__module__
    return cls


def class_of(name):
    """Return the class that a file may call by this name, or None."""
    if name not in _modules:
        return None
    return getattr(import_module(_modules[name]), name.rpartition(".")[2])


def name_of(cls):
    """Return the name that files use for a class, exactly this one, or None."""
    for name in _modules:
        if name.rpartition(".")[2] == cls.__name__ and class_of(name) is cls:
            return name
    return None


def function_of(path):
    """Return the function at a path that a `Part` names; never one that a file names."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)
