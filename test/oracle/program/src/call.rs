//! A call as Base's client makes it for eth_call: no checks of nonce, sender's code, base fee, block gas and gas cap, no fees beside the gas.

use crate::case::{Call, CallEnd};
use crate::run::{CaseState, open};
use alloy_evm::{Evm, EvmEnv};
use alloy_primitives::{Bytes, TxKind, U64};
use op_revm::{OpSpecId, OpTransaction};
use revm::{Database, context::TxEnv};

pub fn run_call(state: &mut CaseState, mut env: EvmEnv<OpSpecId>, call: &Call) -> CallEnd {
    env.cfg_env.disable_eip3607 = true;
    env.cfg_env.disable_base_fee = true;
    env.cfg_env.disable_block_gas_limit = true;
    env.cfg_env.disable_fee_charge = true;
    env.cfg_env.tx_gas_limit_cap = Some(u64::MAX);
    let nonce = state.basic(call.from).expect("a case's state has no database that fails").map_or(0, |account| account.nonce);
    let base = TxEnv::builder()
        .caller(call.from)
        .kind(call.to.map_or(TxKind::Create, TxKind::Call))
        .value(call.value)
        .data(call.data.clone())
        .gas_limit(call.gas_limit.to())
        .gas_price(call.gas_price.to())
        .nonce(nonce)
        .chain_id(Some(env.cfg_env.chain_id))
        .access_list(call.access_list.clone())
        .authorization_list_signed(call.authorization_list.clone())
        .build()
        .expect("the fields make a transaction");
    let transaction = OpTransaction { base, enveloped_tx: Some(Bytes::new()), deposit: Default::default() };
    match open(state, env).transact_raw(transaction) {
        Err(error) => CallEnd::Refused { refused: error.to_string() },
        Ok(done) => CallEnd::Ran {
            kind: if done.result.is_success() {
                "success"
            } else if done.result.is_halt() {
                "halt"
            } else {
                "revert"
            },
            gas_used: U64::from(done.result.gas_used()),
            output: done.result.into_output().unwrap_or_default(),
        },
    }
}
