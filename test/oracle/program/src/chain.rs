//! Forks, and the precompiles of each.

use alloy_evm::precompiles::PrecompilesMap;
use alloy_hardforks::ForkCondition;
use alloy_op_hardforks::{OpChainHardforks, OpHardfork};
use op_revm::{OpSpecId, precompiles::OpPrecompiles};
use revm::precompile::{Precompiles, modexp, secp256r1};
use std::sync::OnceLock;

const FORKS: [(&str, OpSpecId, OpHardfork); 9] = [
    ("regolith", OpSpecId::REGOLITH, OpHardfork::Regolith),
    ("canyon", OpSpecId::CANYON, OpHardfork::Canyon),
    ("ecotone", OpSpecId::ECOTONE, OpHardfork::Ecotone),
    ("fjord", OpSpecId::FJORD, OpHardfork::Fjord),
    ("granite", OpSpecId::GRANITE, OpHardfork::Granite),
    ("holocene", OpSpecId::HOLOCENE, OpHardfork::Holocene),
    ("isthmus", OpSpecId::ISTHMUS, OpHardfork::Isthmus),
    ("jovian", OpSpecId::JOVIAN, OpHardfork::Jovian),
    // Azul takes Osaka's rules; nothing of it is known to the block executor
    ("azul", OpSpecId::OSAKA, OpHardfork::Jovian),
];

/// The rules of a fork, and the activations of the chain that has it and all forks before it from genesis on.
pub fn rules_of(fork: &str) -> (OpSpecId, OpChainHardforks) {
    let (_, spec, last) = FORKS.into_iter().find(|(name, ..)| *name == fork).unwrap_or_else(|| panic!("no fork {fork}"));
    let mut active: Vec<_> = FORKS.iter().map(|(.., hardfork)| *hardfork).filter(|hardfork| *hardfork <= last).collect();
    active.dedup();
    let bedrock = [(OpHardfork::Bedrock, ForkCondition::Block(0))];
    let later = active.into_iter().map(|hardfork| (hardfork, ForkCondition::Timestamp(0)));
    (spec, OpChainHardforks::new(bedrock.into_iter().chain(later)))
}

/// Those of Azul are Jovian's with MODEXP of EIP-7823 and EIP-7883 and P256VERIFY of EIP-7951, which op-revm 15 leaves out.
pub fn precompiles_of(spec: OpSpecId) -> PrecompilesMap {
    static AZUL: OnceLock<Precompiles> = OnceLock::new();
    let known = OpPrecompiles::new_with_spec(spec).precompiles();
    if spec != OpSpecId::OSAKA {
        return PrecompilesMap::from_static(known);
    }
    PrecompilesMap::from_static(AZUL.get_or_init(|| {
        let mut precompiles = known.clone();
        precompiles.extend([modexp::OSAKA, secp256r1::P256VERIFY_OSAKA]);
        precompiles
    }))
}
