//! The model itself, through `rten`.

use std::cell::OnceCell;
use std::sync::Arc;

use rten::{Model, ModelOptions, NodeId, OpRegistry, RunOptions, ThreadPool, op_registry};
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;

use super::error::ModelError;

/// Labels that the model tells apart: outside, and the beginning and the inside of seventeen kinds.
pub(super) const LABELS: usize = 35;

thread_local! {
    /// One thread for each that asks: callers are a bounded pool already, and none waits for another's.
    static THREAD: OnceCell<Arc<ThreadPool>> = const { OnceCell::new() };
}

/// What an input of the model is given.
#[derive(Clone, Copy)]
enum Input {
    Pieces,
    Mask,
    Types,
}

/// A loaded model.
pub(super) struct Runner {
    model: Model,
    inputs: Vec<(NodeId, Input)>,
    output: NodeId,
}

impl Runner {
    /// From an ONNX file.
    ///
    /// # Errors
    /// It is no such file.
    pub(super) fn read(file: Vec<u8>) -> Result<Self, ModelError> {
        let mut options = ModelOptions::with_ops(operators());
        // Halves the time of a short window of the int8 file.
        options.prepack_weights(true);
        let model = options.load(file).map_err(|_| ModelError::Unreadable)?;
        let named = |&id: &NodeId| {
            let node = model.node_info(id)?;
            let input = match node.name()? {
                "input_ids" => Input::Pieces,
                "attention_mask" => Input::Mask,
                "token_type_ids" => Input::Types,
                _ => return None,
            };
            Some((id, input))
        };
        let inputs: Option<Vec<_>> = model.input_ids().iter().map(named).collect();
        let inputs = inputs.filter(|all| !all.is_empty()).ok_or(ModelError::Other)?;
        let output = *model.output_ids().first().ok_or(ModelError::Other)?;
        Ok(Self { model, inputs, output })
    }

    /// The logits of one window: [`LABELS`] for each of its pieces. `None`: the model cannot take it.
    pub(super) fn logits(&self, pieces: &[u32]) -> Option<Vec<f32>> {
        let shape = [1, pieces.len()];
        let ids: Vec<i32> = pieces.iter().map(|&id| i32::try_from(id).ok()).collect::<Option<_>>()?;
        let value = |&(node, input): &(NodeId, Input)| {
            let data = match input {
                Input::Pieces => ids.clone(),
                Input::Mask => vec![1; ids.len()],
                Input::Types => vec![0; ids.len()],
            };
            (node, NdTensor::from_data(shape, data).into())
        };
        let inputs = self.inputs.iter().map(value).collect();
        let own = || Arc::new(ThreadPool::with_num_threads(1));
        let thread = THREAD.with(|kept| Arc::clone(kept.get_or_init(own)));
        let options = RunOptions::default().with_thread_pool(Some(thread));
        let mut outputs = self.model.run(inputs, &[self.output], Some(options)).ok()?;
        let logits: NdTensor<f32, 3> = outputs.pop()?.try_into().ok()?;
        (logits.shape() == [1, pieces.len(), LABELS]).then(|| logits.to_vec())
    }
}

/// What the names model computes with: a fifth of all that the runtime has, and only that is linked.
fn operators() -> OpRegistry {
    op_registry!(
        Add,
        Cast,
        Concat,
        ConstantOfShape,
        DequantizeLinear,
        Div,
        DynamicQuantizeLinear,
        Equal,
        Erf,
        Expand,
        Gather,
        LayerNormalization,
        MatMul,
        MatMulInteger,
        Mul,
        Reshape,
        Shape,
        Slice,
        Softmax,
        Sqrt,
        Sub,
        Transpose,
        Unsqueeze,
        Where
    )
}
