//! One block: system calls, then each transaction that the block executor does not refuse.

use crate::call::run_call;
use crate::case::{Account, Answer, BlockEnd, Case, Transaction};
use crate::chain::{precompiles_of, rules_of};
use alloy_consensus::{TxReceipt, transaction::SignerRecoverable};
use alloy_eips::{Decodable2718, Encodable2718, eip2718::WithEncoded};
use alloy_evm::{EvmEnv, block::BlockExecutor};
use alloy_op_evm::{OpBlockExecutionCtx, OpBlockExecutor, OpEvm, block::OpAlloyReceiptBuilder};
use alloy_primitives::{Address, Bloom, Bytes, U64, U256};
use op_alloy_consensus::OpTxEnvelope;
use op_revm::{DefaultOp, OpBuilder, OpSpecId};
use revm::{
    Context,
    context::{BlockEnv, CfgEnv, ContextTr, JournalTr},
    database::{BundleState, CacheDB, EmptyDB, State, states::bundle_state::BundleRetention},
    inspector::NoOpInspector,
    state::{AccountInfo, Bytecode},
};
use std::collections::BTreeMap;

/// State of a case; the hash of block N is the keccak of N in decimal digits.
pub type CaseState = State<CacheDB<EmptyDB>>;

const CHAIN_ID: u64 = 901;

fn state_of(case: &Case) -> CaseState {
    let mut known = CacheDB::new(EmptyDB::default());
    for (address, account) in &case.accounts {
        let code = if account.code.is_empty() { Bytecode::default() } else { Bytecode::new_raw(account.code.clone()) };
        let info = AccountInfo {
            nonce: account.nonce.to(),
            balance: account.balance,
            code_hash: code.hash_slow(),
            code: Some(code),
            account_id: None,
        };
        known.insert_account_info(*address, info);
        for (slot, value) in &account.storage {
            known.insert_account_storage(*address, *slot, *value).expect("a case's state has no database that fails");
        }
    }
    State::builder().with_database(known).with_bundle_update().build()
}

fn env_of(case: &Case, spec: OpSpecId) -> EvmEnv<OpSpecId> {
    let mut cfg_env = CfgEnv::new_with_spec(spec);
    cfg_env.chain_id = CHAIN_ID;
    let mut block_env = BlockEnv {
        number: U256::from(case.block.number),
        timestamp: U256::from(case.block.timestamp),
        beneficiary: case.block.beneficiary,
        gas_limit: case.block.gas_limit.to(),
        basefee: case.block.base_fee.to(),
        prevrandao: Some(case.block.prev_randao),
        ..Default::default()
    };
    // the excess is zero on OP-Stack chains, so that the price is 1
    block_env.set_blob_excess_gas_and_price(0, 3_338_477);
    EvmEnv { cfg_env, block_env }
}

/// An interpreter on a state.
pub fn open(state: &mut CaseState, env: EvmEnv<OpSpecId>) -> OpEvm<&mut CaseState, NoOpInspector, alloy_evm::precompiles::PrecompilesMap> {
    let precompiles = precompiles_of(env.cfg_env.spec);
    let context = Context::op().with_db(state).with_block(env.block_env).with_cfg(env.cfg_env);
    OpEvm::new(context.build_op_with_inspector(NoOpInspector {}).with_precompiles(precompiles), false)
}

fn decode(raw: &Bytes) -> Result<WithEncoded<alloy_consensus::transaction::Recovered<OpTxEnvelope>>, String> {
    let transaction = OpTxEnvelope::decode_2718_exact(raw).map_err(|error| format!("decode: {error}"))?;
    let recovered = transaction.try_into_recovered().map_err(|error| format!("signature: {error}"))?;
    Ok(WithEncoded::new(raw.clone(), recovered))
}

pub fn run(case: &Case) -> Answer {
    let (spec, hardforks) = rules_of(&case.fork);
    let env = env_of(case, spec);
    let mut state = state_of(case);
    let calls = case.calls.iter().map(|call| run_call(&mut state, env.clone(), call)).collect();
    let is_ecotone = spec.is_enabled_in(OpSpecId::ECOTONE);
    let context = OpBlockExecutionCtx {
        parent_hash: case.block.parent_hash,
        parent_beacon_block_root: is_ecotone.then_some(case.block.parent_beacon_block_root),
        extra_data: Bytes::new(),
    };
    let mut executor = OpBlockExecutor::new(open(&mut state, env.clone()), context, hardforks, OpAlloyReceiptBuilder::default());
    executor.apply_pre_execution_changes().expect("system calls do not fail");
    let mut transactions = Vec::new();
    for raw in &case.transactions {
        let ran = decode(raw).and_then(|transaction| executor.execute_transaction(&transaction).map_err(|error| error.to_string()));
        transactions.push(match ran {
            Err(refused) => {
                // what the checks loaded must not be warm for the next transaction: a client drops the whole block here
                executor.evm.ctx_mut().journal_mut().discard_tx();
                executor.evm.ctx_mut().journal_mut().finalize();
                Transaction::Refused { refused }
            }
            Ok(gas_used) => {
                let receipt = executor.receipts.last().expect("a transaction that ran has a receipt");
                Transaction::Executed {
                    succeeded: receipt.status(),
                    gas_used: U64::from(gas_used),
                    logs: receipt.logs().to_vec(),
                    receipt: receipt.encoded_2718().into(),
                }
            }
        });
    }
    let (evm, result) = executor.finish().expect("nothing after the last transaction fails");
    drop(evm);
    let bloom = result.receipts.iter().fold(Bloom::ZERO, |bloom, receipt| bloom | receipt.bloom());
    state.merge_transitions(BundleRetention::PlainState);
    let accounts = state_after(&case.accounts, &state.take_bundle());
    Answer {
        transactions,
        block: BlockEnd {
            gas_used: U64::from(result.gas_used),
            blob_gas_used: U64::from(result.blob_gas_used),
            logs_bloom: bloom.to_vec().into(),
        },
        accounts,
        calls,
    }
}

/// All accounts after the block; slots with zero are left out.
fn state_after(before: &BTreeMap<Address, Account>, changes: &BundleState) -> BTreeMap<Address, Account> {
    let mut accounts = before.clone();
    for (address, change) in &changes.state {
        let Some(info) = &change.info else {
            accounts.remove(address);
            continue;
        };
        let account = accounts.entry(*address).or_default();
        account.nonce = U64::from(info.nonce);
        account.balance = info.balance;
        if let Some(code) = &info.code {
            account.code = code.original_bytes();
        } else if let Some(code) = changes.contracts.get(&info.code_hash) {
            account.code = code.original_bytes();
        }
        if info.is_empty_code_hash() {
            account.code = Bytes::new();
        }
        if change.was_destroyed() {
            account.storage.clear();
        }
        for (slot, value) in &change.storage {
            account.storage.insert(*slot, value.present_value);
        }
    }
    for account in accounts.values_mut() {
        account.storage.retain(|_, value| !value.is_zero());
    }
    accounts
}
