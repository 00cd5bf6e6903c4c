"""Forms that the reference evaluator of onnx 1.23.2 does not compute as the standard or the runtime says."""

_BY_REASON = {
    "rounds the determinant in the order of another library": (
        *(f"Det(2x3x{n}x{n})[]@22?" for n in (2, 3, 5, 16)),
        "Det(4x4)[]@11",
    ),
    "fails without a score_threshold": tuple(
        f"NonMaxSuppression({shapes}center_point_box={centers}@11"
        for shapes in ("2x9x4-2x3x9-1)[012]", "2x9x4-2x3x9)[01]")
        for centers in (0, 1)
    ),
    "returns other indices, or the slices of another axis, unsorted": (
        "Unique(4x5)[0]sorted=0@11",
        "Unique(4x5)[0]sorted=0,axis=-1@11",
    ),
    "does not crop": ("Pad(5x6x7-6-)[12]@17",),
    "takes no open sizes": ("MaxPool(2x3x9x8)[]kernel_shape=[3, 2]@17?",),
    "has the meaning of opset 13 alone": (
        "Softmax(3x4x5)[]axis=1@11",
        "Hardmax(3x4x5)[]axis=1@11",
    ),
    "rounds in another order, some units further away": ("BatchNormalization(2x3x4x4-3-3-3-3)[1234]@17",),
    "takes indices from the end for others": (
        "GatherElements(3x4x5-3x4x2)[]axis=-1@17",
        "GatherElements(3x4x5-3x4x2)[1]axis=-1@17",
        "GatherElements(3x4x5-3x4x2)[01]axis=-1@17",
    ),
    "takes no axis of one element": ("CumSum(3x4x5-1)[1]@17",),
    "takes no depth of one element": ("OneHot(2x3-1-2)[12]@17",),
    "rounds coordinates, and takes the length of an axis, in another way": (
        "Resize(1x2x5x4-0-4)[12]coordinate_transformation_mode=half_pixel,nearest_mode=floor@17",
        "Resize(1x2x5x4-0-4)[12]coordinate_transformation_mode=pytorch_half_pixel,nearest_mode=floor@17",
        "Resize(1x2x5x4-0-4)[12]coordinate_transformation_mode=align_corners,nearest_mode=floor@17",
        "Resize(1x2x5x4-0-4)[12]coordinate_transformation_mode=align_corners,mode=linear@17",
        "Resize(1x2x5x4-0-4)[12]coordinate_transformation_mode=align_corners,mode=cubic@17",
        "Resize(1x2x5x4-4)[1]@10",
        "Resize(1x2x5x4-4)[1]mode=linear@10",
    ),
    "has no linear mode": ("Upsample(1x2x5x4-4)[1]mode=linear@9",),
    "computes another shape or takes no groups": (
        "ConvTranspose(2x4x5x3-4x3x3x2-3)[12]strides=[2, 2],output_shape=[9, 6]@17",
        "ConvTranspose(2x4x5x3-4x2x3x3)[1]group=2,strides=[2, 2]@17",
    ),
    "has no other activations and no clip": (
        "LSTM(5x3x4-1x24x4-1x24x6-1x48)[123]hidden_size=6,activations=['Sigmoid', 'Softsign', 'Relu']@17",
        "LSTM(5x3x4-1x24x4-1x24x6-1x48)[123]hidden_size=6,clip=0.25@17",
        "GRU(5x3x4-1x18x4-1x18x6-1x36)[123]hidden_size=6,activations=['Sigmoid', 'Softsign']@17",
        "GRU(5x3x4-1x18x4-1x18x6-1x36)[123]hidden_size=6,clip=0.25@17",
        "RNN(5x3x4-1x6x4-1x6x6-1x12)[123]hidden_size=6,activations=['Sigmoid']@17",
        "RNN(5x3x4-1x6x4-1x6x6-1x12)[123]hidden_size=6,clip=0.25@17",
    ),
    "has no such operator": tuple(f"GlobalLpPool(2x3x5x4)[]p={p}@17" for p in (1, 2, 3)),
    "normalizes as many channels as there are images": (
        *(f"LRN(2x7x3x4)[]size={size},alpha=0.3,beta=0.6,bias=1.5@17" for size in (1, 3, 5, 13)),
        "LRN(2x7x3x4)[]size=5@17?",
    ),
    "divides by 0": (
        "LpNormalization(3x4x5)[]p=1,axis=1@22",
        "LpNormalization(3x4x5)[]p=1,axis=-1@22",
    ),
    "returns int64": ("ReduceSumSquare(3x4)[]axes=[-1]@13",),
    "normalizes along one axis only": (
        "LogSoftmax(3x4x5)[]axis=0@11",
        "LogSoftmax(3x4x5)[]axis=1@11",
        "LogSoftmax(3x4x5)[]@7",
    ),
    "does not know the names bilinear and bicubic": (
        "GridSample(2x3x5x4-2x4x6x2)[]padding_mode=zeros,align_corners=0,mode=bilinear@16",
        "GridSample(2x3x5x4-2x4x6x2)[]padding_mode=zeros,align_corners=1,mode=bilinear@16",
        "GridSample(2x3x5x4-2x4x6x2)[]padding_mode=zeros,mode=bicubic@16",
        "GridSample(2x3x5x4-2x4x6x2)[]padding_mode=border,align_corners=0,mode=bilinear@16",
        "GridSample(2x3x5x4-2x4x6x2)[]padding_mode=border,align_corners=1,mode=bilinear@16",
        "GridSample(2x3x5x4-2x4x6x2)[]padding_mode=border,mode=bicubic@16",
        "GridSample(2x3x5x4-2x4x6x2)[]padding_mode=reflection,align_corners=0,mode=bilinear@16",
        "GridSample(2x3x5x4-2x4x6x2)[]padding_mode=reflection,align_corners=1,mode=bilinear@16",
        "GridSample(2x3x5x4-2x4x6x2)[]padding_mode=reflection,mode=bicubic@16",
    ),
    "shifts regions by half a pixel": (
        "RoiAlign(2x3x6x8-5x4-5)[]output_height=3,output_width=2,sampling_ratio=2,spatial_scale=0.75,mode=avg@10",
        "RoiAlign(2x3x6x8-5x4-5)[]output_height=3,output_width=2,sampling_ratio=2,spatial_scale=0.75,mode=max@10",
    ),
    "has no operator MaxRoiPool": (
        "MaxRoiPool(2x3x6x8-5x5)[]pooled_shape=[2, 3],spatial_scale=1.0@17",
        "MaxRoiPool(2x3x6x8-5x5)[]pooled_shape=[4, 1],spatial_scale=1.0@17",
        "MaxRoiPool(2x3x6x8-5x5)[]pooled_shape=[2, 3],spatial_scale=0.5@17",
        "MaxRoiPool(2x3x6x8-5x5)[]pooled_shape=[4, 1],spatial_scale=0.5@17",
    ),
}
NOT_EVALUATED = {form: reason for reason, forms in _BY_REASON.items() for form in forms}
"""What the evaluator does, by the form."""
