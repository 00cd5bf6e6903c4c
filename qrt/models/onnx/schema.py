"""The messages of ONNX files, as far as they are read: their fields by number, name and kind.

A field is ``number name kind``. A kind is one of the plain ones below or the name of a message; a ``*`` before it says
that the field may stand in a message any number of times. Fields that are not listed are skipped: descriptions for
people, and what says how a model is trained or spread over devices.
"""

FIELDS = {
    "Model": """
        1 ir_version int, 2 producer_name text, 7 graph Graph, 8 opset_import *OperatorSet, 14 metadata_props *Entry,
        25 functions *Function""",
    "Graph": """
        1 node *Node, 2 name text, 5 initializer *Tensor, 11 input *Value, 12 output *Value, 13 value_info *Value,
        15 sparse_initializer *SparseTensor""",
    "Function": """
        1 name text, 4 input *text, 5 output *text, 6 attribute *text, 7 node *Node, 9 opset_import *OperatorSet,
        10 domain text, 11 attribute_proto *Attribute, 13 overload text""",
    "Node": """
        1 input *text, 2 output *text, 3 name text, 4 op_type text, 5 attribute *Attribute, 7 domain text,
        8 overload text""",
    "Attribute": """
        1 name text, 2 f float, 3 i int, 4 s text, 5 t Tensor, 6 g Graph, 7 floats *float, 8 ints *int,
        9 strings *text, 10 tensors *Tensor, 11 graphs *Graph, 20 type int, 21 ref_attr_name text""",
    "Tensor": """
        1 dims *int, 2 data_type int, 3 segment Segment, 4 float_data *float, 5 int32_data *int, 6 string_data *bytes,
        7 int64_data *int, 8 name text, 9 raw_data bytes, 10 double_data *double, 11 uint64_data *uint,
        13 external_data *Entry, 14 data_location int""",
    "Segment": "",
    "SparseTensor": "1 values Tensor",
    "Value": "1 name text, 2 type Type",
    "Type": """
        1 tensor_type TensorType, 4 sequence_type OtherType, 5 map_type OtherType, 7 opaque_type OtherType,
        8 sparse_tensor_type OtherType, 9 optional_type OtherType""",
    "TensorType": "1 elem_type int, 2 shape Shape",
    "OtherType": "",
    "Shape": "1 dim *Dimension",
    "Dimension": "1 dim_value int, 2 dim_param text",
    "OperatorSet": "1 domain text, 2 version int",
    "Entry": "1 key text, 2 value text",
}
ONE_OF = ("Type", "Dimension")
"""The messages of which one field counts: the last one that is there."""
