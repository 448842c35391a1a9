"""The extension module; its functions take their arguments by position."""
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

Arrays = Tuple[Tuple[int, int], npt.NDArray[np.int64], npt.NDArray[np.int32], Optional[npt.NDArray[np.float32]]]
Rows = Tuple[Arrays, Optional[Arrays], float]
Reporter = Optional[Callable[[str, int, int, str], None]]

__version__: str

class NumericalError(ArithmeticError): ...

def default_threads() -> int: ...
def total_memory() -> int: ...
def peak_memory() -> int: ...
def is_canonical(__arrays: Arrays, __threads: int) -> bool: ...
def look_at_values(__values: npt.NDArray[Any], __threads: int) -> Tuple[bool, bool]: ...
def parse_times(__texts: List[str], __unit: str) -> List[int]: ...
def detect_format(__inputs: List[str], __format: str) -> str: ...

class Log:
    rows: int
    has_times: bool
    reading: str
    @staticmethod
    def from_arrays(
        __users: npt.NDArray[np.int32],
        __items: npt.NDArray[np.int32],
        __values: Optional[npt.NDArray[np.float32]],
        __times: Optional[npt.NDArray[np.int64]],
        __user_ids: List[str],
        __item_ids: List[str],
        __empty_ids: int,
        __dislike_below: Optional[float],
    ) -> Log: ...
    @staticmethod
    def from_csr(__rows: Rows, __users: List[str], __items: List[str]) -> Log: ...
    @staticmethod
    def read(
        __inputs: List[str],
        __format: str,
        __columns: List[str],
        __delimiter: str,
        __header: Optional[bool],
        __keep_above: Optional[float],
        __dislike_below: Optional[float],
        __skip_bad_lines: bool,
        __times: bool,
        __time_unit: str,
        __threads: int,
        __progress: Reporter,
    ) -> Log: ...
    @staticmethod
    def synthesize(__like: str, __scale: float, __seed: int, __values: bool, __threads: int) -> Log: ...

class Memory: ...

def log_from_stream(
    __capsule: object, __user: str, __item: str, __value: Optional[str], __dislike_below: Optional[float],
    __time: Optional[str], __time_unit: str
) -> Tuple[Log, Optional[bool], Optional[bool]]: ...

class Data:
    split: str
    items: List[str]
    users: List[str]
    train: Arrays
    counts: Dict[str, int]
    cuts: Dict[str, Optional[str]]
    has_values: bool
    @staticmethod
    def read(__folder: str, __threads: int, __progress: Reporter) -> Data: ...
    @staticmethod
    def read_pro_sg(__folder: str, __threads: int, __progress: Reporter) -> Data: ...
    @staticmethod
    def from_csr(__rows: Rows, __users: List[str], __items: List[str]) -> Data: ...
    @staticmethod
    def split_users(
        __log: Log,
        __min_user_items: int,
        __min_item_users: int,
        __k_core: bool,
        __held_out_users: Optional[int],
        __target_share: float,
        __seed: int,
        __threads: int,
        __progress: Reporter,
    ) -> Data: ...
    @staticmethod
    def split_none(
        __log: Log, __min_user_items: int, __min_item_users: int, __k_core: bool, __threads: int, __progress: Reporter
    ) -> Data: ...
    @staticmethod
    def split_time(
        __log: Log,
        __min_user_items: int,
        __min_item_users: int,
        __k_core: bool,
        __test_from: str,
        __validation_from: Optional[str],
        __test_to: Optional[str],
        __time_unit: str,
        __threads: int,
        __progress: Reporter,
    ) -> Data: ...
    @staticmethod
    def split_last(
        __log: Log,
        __min_user_items: int,
        __min_item_users: int,
        __k_core: bool,
        __holdout: int,
        __threads: int,
        __progress: Reporter,
    ) -> Data: ...
    @staticmethod
    def split_cold_items(
        __log: Log,
        __min_user_items: int,
        __min_item_users: int,
        __k_core: bool,
        __item_features: str,
        __seed: int,
        __threads: int,
        __progress: Reporter,
    ) -> Data: ...
    def with_item_features(self, __path: str) -> Data: ...
    def feature_names(self) -> List[str]: ...
    def features(self) -> Arrays: ...
    @staticmethod
    def split_given(
        __train: Log, __validation: Optional[Log], __test: Optional[Log], __threads: int, __progress: Reporter
    ) -> Data: ...
    def write(self, __folder: str, __threads: int, __progress: Reporter) -> None: ...
    def write_pro_sg(self, __folder: str, __values: bool, __threads: int) -> None: ...
    def checksum(self, __threads: int) -> str: ...
    def has_part(self, __name: str) -> bool: ...
    def part_users(self, __name: str) -> List[str]: ...
    def fold_in(self, __name: str) -> Arrays: ...
    def dislikes(self, __name: str) -> Optional[Arrays]: ...
    def targets(self, __name: str) -> Arrays: ...

class Model:
    items: int
    item_ids: List[str]
    kind: str
    options: Dict[str, str]
    report: str
    data_checksum: str
    seconds: Dict[str, float]
    trace: List[Dict[str, Any]]
    @staticmethod
    def load(__path: str, __threads: int) -> Model: ...
    @staticmethod
    def from_bytes(__bytes: npt.NDArray[np.uint8]) -> Model: ...
    def to_bytes(self) -> npt.NDArray[np.uint8]: ...
    def save(self, __path: str) -> None: ...
    def recommend(
        self,
        __histories: Rows,
        __k: int,
        __exclude_history: bool,
        __exclude: List[int],
        __only: Optional[List[int]],
        __diversify: float,
        __excluded_pairs: Optional[Arrays],
        __user_factors: Optional[npt.NDArray[np.float32]],
        __device: str,
        __threads: int,
    ) -> Tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]: ...
    def similar(
        self, __items: List[int], __k: int, __threads: int
    ) -> Tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]: ...
    def scores(self, __histories: Rows, __threads: int) -> npt.NDArray[np.float32]: ...
    def factors(self, __histories: Rows, __threads: int) -> npt.NDArray[np.float32]: ...
    def evaluate(
        self,
        __fold_in: Rows,
        __targets: Arrays,
        __train: Optional[Arrays],
        __metrics: str,
        __denominator: str,
        __device: str,
        __threads: int,
        __progress: Reporter,
    ) -> Tuple[str, List[str], npt.NDArray[np.int64], npt.NDArray[np.float64]]: ...
    @staticmethod
    def needs_training(__metrics: str) -> bool: ...
    def explain(
        self,
        __history: npt.NDArray[np.int32],
        __values: Optional[npt.NDArray[np.float32]],
        __dislikes: Optional[npt.NDArray[np.int32]],
        __dislike_share: float,
        __item: int,
    ) -> Tuple[List[Tuple[int, float]], List[List[str]]]: ...
    def tensors(self) -> Dict[str, Any]: ...

def check_device(__device: str) -> None: ...
def parameters() -> List[Tuple[str, str, Any, str, List[str], Dict[str, str]]]: ...
def weightings() -> Dict[str, Tuple[str, str]]: ...
def families() -> List[str]: ...
def check_parameters(__values: Dict[str, Any]) -> None: ...
def train_csr(
    __rows: Rows,
    __features: Optional[Arrays],
    __item_ids: List[str],
    __values: Dict[str, Any],
    __keep_inverse: bool,
    __device: str,
    __memory_limit: int,
    __threads: int,
    __progress: Reporter,
) -> Model: ...
def train_data(
    __data: Data,
    __folder: str,
    __values: Dict[str, Any],
    __keep_inverse: bool,
    __device: str,
    __memory_limit: int,
    __threads: int,
    __progress: Reporter,
) -> Model: ...
def update(
    __model: Model,
    __data: Data,
    __log: Optional[Log],
    __removed: Optional[Log],
    __item_features: Optional[str],
    __keep_lambda: bool,
    __refit: bool,
    __device: str,
    __memory_limit: int,
    __threads: int,
    __progress: Reporter,
) -> Tuple[Model, Data, str]: ...
def search(
    __data: Data,
    __folder: str,
    __base: Dict[str, Any],
    __axes: Dict[str, Any],
    __options: Dict[str, Any],
    __report: Optional[str],
    __journal: str,
    __device: str,
    __memory_limit: int,
    __threads: int,
    __progress: Reporter,
) -> Tuple[str, Optional[Model], Dict[str, str]]: ...
def study(
    __inputs: Sequence[Tuple[str, str, Data, str]],
    __models: str,
    __ranks: List[int],
    __neighbours: List[int],
    __tolerance: float,
    __seed: int,
    __seeds: List[int],
    __over_cuts: bool,
    __options: Dict[str, Any],
    __option_list: List[Tuple[str, str]],
    __journal: str,
    __device: str,
    __memory_limit: int,
    __threads: int,
    __progress: Reporter,
) -> Dict[str, str]: ...

class Server:
    def __init__(self, __models: Sequence[Tuple[str, str]], __items: str, __host: str, __port: int, __threads: int) -> None: ...
    @property
    def url(self) -> str: ...
    def stop(self) -> None: ...

def is_loopback(__host: str) -> bool: ...
