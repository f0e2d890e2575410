"""Type hints of the public names; ``_hints`` has them by subject."""

from sklearn_mrmp._hints.classifiers import (
    CalibratedMultilabelClassifier as CalibratedMultilabelClassifier,
)
from sklearn_mrmp._hints.classifiers import (
    LabelChainClassifier as LabelChainClassifier,
)
from sklearn_mrmp._hints.classifiers import (
    LabelPowersetClassifier as LabelPowersetClassifier,
)
from sklearn_mrmp._hints.classifiers import (
    MLARAMClassifier as MLARAMClassifier,
)
from sklearn_mrmp._hints.classifiers import (
    MLKNNClassifier as MLKNNClassifier,
)
from sklearn_mrmp._hints.classifiers import (
    SoftVotingMultilabelClassifier as SoftVotingMultilabelClassifier,
)
from sklearn_mrmp._hints.classifiers import (
    TunedBinaryRelevanceClassifier as TunedBinaryRelevanceClassifier,
)
from sklearn_mrmp._hints.classifiers import (
    TunedDecisionClassifier as TunedDecisionClassifier,
)
from sklearn_mrmp._hints.decisions import (
    AtLeastOne as AtLeastOne,
)
from sklearn_mrmp._hints.decisions import (
    FBeta as FBeta,
)
from sklearn_mrmp._hints.decisions import (
    FloorNotMetWarning as FloorNotMetWarning,
)
from sklearn_mrmp._hints.decisions import (
    Jaccard as Jaccard,
)
from sklearn_mrmp._hints.decisions import (
    LabelCosts as LabelCosts,
)
from sklearn_mrmp._hints.decisions import (
    LabelCuts as LabelCuts,
)
from sklearn_mrmp._hints.decisions import (
    PrecisionFloor as PrecisionFloor,
)
from sklearn_mrmp._hints.decisions import (
    RecallFloor as RecallFloor,
)
from sklearn_mrmp._hints.decisions import (
    ThresholdResult as ThresholdResult,
)
from sklearn_mrmp._hints.decisions import (
    TopK as TopK,
)
from sklearn_mrmp._hints.decisions import (
    fit_decision_rules as fit_decision_rules,
)
from sklearn_mrmp._hints.decisions import (
    tune_thresholds as tune_thresholds,
)
from sklearn_mrmp._hints.explanations import (
    Explanation as Explanation,
)
from sklearn_mrmp._hints.explanations import (
    ExplanationDisplay as ExplanationDisplay,
)
from sklearn_mrmp._hints.graphs import (
    LabelGraph as LabelGraph,
)
from sklearn_mrmp._hints.graphs import (
    add_ancestors as add_ancestors,
)
from sklearn_mrmp._hints.graphs import (
    hierarchy_relation as hierarchy_relation,
)
from sklearn_mrmp._hints.graphs import (
    label_graph as label_graph,
)
from sklearn_mrmp._hints.graphs import (
    similarity_relation as similarity_relation,
)
from sklearn_mrmp._hints.networks import (
    LaMPClassifier as LaMPClassifier,
)
from sklearn_mrmp._hints.networks import (
    MLRNNClassifier as MLRNNClassifier,
)
from sklearn_mrmp._hints.networks import (
    MPVAEClassifier as MPVAEClassifier,
)
from sklearn_mrmp._hints.networks import (
    MrMPClassifier as MrMPClassifier,
)
from sklearn_mrmp._hints.networks import (
    to_onnx as to_onnx,
)
from sklearn_mrmp._hints.results import (
    AblationDisplay as AblationDisplay,
)
from sklearn_mrmp._hints.results import (
    AblationResult as AblationResult,
)
from sklearn_mrmp._hints.results import (
    ComparisonDisplay as ComparisonDisplay,
)
from sklearn_mrmp._hints.results import (
    ComparisonResult as ComparisonResult,
)
from sklearn_mrmp._hints.results import (
    LabelGraphDisplay as LabelGraphDisplay,
)
from sklearn_mrmp._hints.results import (
    LabelReport as LabelReport,
)
from sklearn_mrmp._hints.results import (
    ModelFileError as ModelFileError,
)
from sklearn_mrmp._hints.results import (
    RankDisplay as RankDisplay,
)
from sklearn_mrmp._hints.results import (
    ThresholdDisplay as ThresholdDisplay,
)
from sklearn_mrmp._hints.results import (
    TrainingHistoryDisplay as TrainingHistoryDisplay,
)
from sklearn_mrmp._hints.results import (
    auc_gain_by_degree as auc_gain_by_degree,
)
from sklearn_mrmp._hints.results import (
    compare_classifiers as compare_classifiers,
)
from sklearn_mrmp._hints.results import (
    from_pretrained as from_pretrained,
)
from sklearn_mrmp._hints.results import (
    load as load,
)
from sklearn_mrmp._hints.results import (
    model_card as model_card,
)
from sklearn_mrmp._hints.results import (
    push_to_hub as push_to_hub,
)
from sklearn_mrmp._hints.results import (
    relation_ablation as relation_ablation,
)
from sklearn_mrmp._hints.results import (
    save as save,
)
from sklearn_mrmp._hints.results import (
    save_pretrained as save_pretrained,
)
from sklearn_mrmp._hints.texts import (
    MultilabelStratifiedKFold as MultilabelStratifiedKFold,
)
from sklearn_mrmp._hints.texts import (
    MultilabelStratifiedShuffleSplit as MultilabelStratifiedShuffleSplit,
)
from sklearn_mrmp._hints.texts import (
    TextEncoder as TextEncoder,
)
from sklearn_mrmp._hints.texts import (
    TokenSequenceVectorizer as TokenSequenceVectorizer,
)
from sklearn_mrmp._hints.texts import (
    multilabel_train_test_split as multilabel_train_test_split,
)
from sklearn_mrmp._hints.trust import (
    LabelCalibrator as LabelCalibrator,
)
from sklearn_mrmp._hints.trust import (
    LabelConformal as LabelConformal,
)
from sklearn_mrmp._hints.trust import (
    LabelErrors as LabelErrors,
)
from sklearn_mrmp._hints.trust import (
    ReliabilityDisplay as ReliabilityDisplay,
)
from sklearn_mrmp._hints.trust import (
    calibrate_labels as calibrate_labels,
)
from sklearn_mrmp._hints.trust import (
    label_errors as label_errors,
)

__version__: str

__all__ = [
    "AblationDisplay",
    "AblationResult",
    "AtLeastOne",
    "CalibratedMultilabelClassifier",
    "ComparisonDisplay",
    "ComparisonResult",
    "Explanation",
    "ExplanationDisplay",
    "FBeta",
    "FloorNotMetWarning",
    "Jaccard",
    "LaMPClassifier",
    "LabelCalibrator",
    "LabelChainClassifier",
    "LabelConformal",
    "LabelCosts",
    "LabelCuts",
    "LabelErrors",
    "LabelGraph",
    "LabelGraphDisplay",
    "LabelPowersetClassifier",
    "LabelReport",
    "MLARAMClassifier",
    "MLKNNClassifier",
    "MLRNNClassifier",
    "MPVAEClassifier",
    "ModelFileError",
    "MrMPClassifier",
    "MultilabelStratifiedKFold",
    "MultilabelStratifiedShuffleSplit",
    "PrecisionFloor",
    "RankDisplay",
    "RecallFloor",
    "ReliabilityDisplay",
    "SoftVotingMultilabelClassifier",
    "TextEncoder",
    "ThresholdDisplay",
    "ThresholdResult",
    "TokenSequenceVectorizer",
    "TopK",
    "TrainingHistoryDisplay",
    "TunedBinaryRelevanceClassifier",
    "TunedDecisionClassifier",
    "add_ancestors",
    "auc_gain_by_degree",
    "calibrate_labels",
    "compare_classifiers",
    "fit_decision_rules",
    "from_pretrained",
    "hierarchy_relation",
    "label_errors",
    "label_graph",
    "load",
    "model_card",
    "multilabel_train_test_split",
    "push_to_hub",
    "relation_ablation",
    "save",
    "save_pretrained",
    "similarity_relation",
    "to_onnx",
    "tune_thresholds",
]
