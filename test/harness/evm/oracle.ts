import { createRequire } from 'node:module'
import { createEVM, type EVM } from '@ethereumjs/evm'
import type { EvmFork } from '#chainspec/evmRules'
import { bigintFromBytes, bytesFromBigint } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { type Address, hashFromBytes, parseAddress } from '#types/ids'
import { precompileAddresses } from '../../../src/evm/precompiles/precompileAt.ts'
import { blockHashOf, type CaseEnd, type CaseMessage, type EvmCase, linesOf, type MessageEnd, rulesOf, type StateLines } from './case.ts'
import { testBlock } from './host.ts'

type OracleAddress = Parameters<EVM['stateManager']['putCode']>[0]
type OracleAccount = NonNullable<Parameters<EVM['stateManager']['putAccount']>[1]>
type OracleOptions = NonNullable<Parameters<typeof createEVM>[0]>
type OracleCommon = NonNullable<OracleOptions['common']>
/** State that the oracle creates: maps by address, and by address and slot. */
type OracleState = EVM['stateManager'] & {
  topAccountStack(): Map<string, OracleAccount | undefined>
  topCodeStack(): Map<string, Uint8Array>
  topStorageStack(): Map<string, Uint8Array>
}
type OracleResult = Awaited<ReturnType<EVM['runCall']>>

// these packages are dependencies of the oracle's package, not of this one
const beside = createRequire(createRequire(import.meta.url).resolve('@ethereumjs/evm'))
const { Account, createAddressFromString } = beside('@ethereumjs/util') as {
  Account: new (nonce: bigint, balance: bigint) => OracleAccount
  createAddressFromString(address: string): OracleAddress
}
const { Common, Mainnet } = beside('@ethereumjs/common') as {
  Common: new (options: { chain: unknown; hardfork: string }) => OracleCommon
  Mainnet: unknown
}

const header = {
  number: BigInt(testBlock.number),
  coinbase: createAddressFromString(testBlock.beneficiary),
  timestamp: BigInt(testBlock.timestamp),
  // before Paris; this project's block has the difficulty in the field of the random value
  difficulty: BigInt(testBlock.prevRandao),
  prevRandao: fromHex(testBlock.prevRandao),
  gasLimit: testBlock.gasLimit,
  baseFeePerGas: testBlock.baseFee,
  getBlobGasPrice: () => testBlock.blobBaseFee,
}

/** Chain of block hashes; each hash is derived from the block's number. */
const blockchain = {
  getBlock: async (number: unknown) => ({ hash: () => fromHex(blockHashOf(Number(number))) }),
  putBlock: async () => undefined,
  shallowCopy: () => blockchain,
}

/** Step of the oracle. `gas` is the gas before the opcode is paid; the top of `stack` is last. */
export type OracleStep = {
  readonly depth: number
  readonly pc: number
  readonly opcode: number
  readonly gas: bigint
  readonly stack: readonly bigint[]
}

/** Callbacks of a run of the oracle. */
export type OracleWatch = {
  beforeMessage(): void
  /** Called before an opcode runs. */
  step(step: OracleStep): void
  /** Called after a message, with the oracle's text for its failure. */
  afterMessage(error: string | undefined): void
}

async function oracleWith(hardfork: string, accounts: EvmCase['accounts'], watch: OracleWatch | undefined): Promise<EVM> {
  const common = new Common({ chain: Mainnet, hardfork })
  const evm = await createEVM({ common, blockchain: blockchain as unknown as NonNullable<OracleOptions['blockchain']> })
  for (const [address, { nonce, balance, code, storage }] of accounts) {
    const at = createAddressFromString(address)
    await evm.stateManager.putAccount(at, new Account(nonce, balance))
    if (code.length > 0) await evm.stateManager.putCode(at, code)
    for (const [slot, value] of storage) await evm.stateManager.putStorage(at, bytesFromBigint(slot, 32), shortest(value))
  }
  evm.stateManager.originalStorageCache.clear()
  if (watch) {
    evm.events.on('beforeMessage', () => watch.beforeMessage())
    evm.events.on('step', ({ depth, pc, opcode, gasLeft, stack }) => watch.step({ depth, pc, opcode: opcode.code, gas: gasLeft, stack }))
    evm.events.on('afterMessage', ({ execResult }) => watch.afterMessage(execResult.exceptionError?.error))
  }
  return evm
}

/** Value of a slot as the oracle stores it: without leading zeros. */
function shortest(value: bigint): Uint8Array {
  const text = value.toString(16)
  return bytesFromBigint(value, Math.ceil(text.length / 2))
}

/** Marks the addresses and slots that are warm at the start of a transaction (EIP-2929, EIP-3651). */
function warmUp(evm: EVM, fork: EvmFork, { from, to, warm: listed = [] }: CaseMessage): void {
  const warm = [from, ...(to === null ? [] : [to]), ...precompileAddresses(rulesOf(fork))]
  if (fork !== 'paris') warm.push(testBlock.beneficiary)
  for (const address of warm) evm.journal.addAlwaysWarmAddress(address, true)
  for (const { address, slots } of listed) {
    evm.journal.addAlwaysWarmAddress(address, true)
    for (const slot of slots) evm.journal.addAlwaysWarmSlot(address, slot, true)
  }
}

/** Removes the code and storage of a deleted account. The oracle keeps both, and a new account at the address would have them. */
async function remove(evm: EVM, address: string): Promise<void> {
  await evm.journal.deleteAccount(createAddressFromString(address))
  await evm.stateManager.clearStorage(createAddressFromString(address))
  ;(evm.stateManager as OracleState).topCodeStack().delete(address)
}

/** Ends a transaction as the oracle's own package for blocks does. */
async function endTransaction(evm: EVM, fork: EvmFork, { execResult }: OracleResult): Promise<void> {
  for (const address of execResult.selfdestruct?.keys() ?? []) {
    const isNew = execResult.createdAddresses?.has(address) === true
    if (fork === 'paris' || fork === 'shanghai' || isNew) await remove(evm, address)
  }
  await evm.journal.cleanup()
  evm.stateManager.originalStorageCache.clear()
  evm.transientStorage.clear()
}

function endOf({ execResult, createdAddress }: OracleResult): MessageEnd {
  const error = execResult.exceptionError?.error
  const kind = error === undefined ? 'success' : error === 'revert' ? 'revert' : 'halt'
  const isGood = kind === 'success'
  const logs = (isGood ? (execResult.logs ?? []) : []).map(
    ([address, topics, data]) => `${toHex(address)} ${topics.map((topic) => toHex(topic)).join(' ')} ${toHex(data)}`,
  )
  return {
    kind,
    gasUsed: execResult.executionGasUsed,
    gasRefund: isGood ? (execResult.gasRefund ?? 0n) : 0n,
    output: kind === 'halt' ? '0x' : toHex(execResult.returnValue),
    logs,
    ...(isGood && createdAddress !== undefined && { created: parseAddress(createdAddress.toString()) }),
  }
}

async function send(evm: EVM, fork: EvmFork, message: CaseMessage): Promise<MessageEnd> {
  const { from, to, value, data, gas, blobHashes = [], setCode } = message
  warmUp(evm, fork, message)
  if (setCode) await evm.stateManager.putCode(createAddressFromString(setCode.of), setCode.code)
  const caller = createAddressFromString(from)
  const result = await evm.runCall({
    block: { header } as unknown as NonNullable<Parameters<EVM['runCall']>[0]['block']>,
    caller,
    origin: caller,
    gasPrice: 10n,
    gasLimit: gas,
    data,
    value,
    blobVersionedHashes: [...blobHashes],
    skipNonceIncrement: to !== null,
    ...(to !== null && { to: createAddressFromString(to) }),
  })
  const end = endOf(result)
  await endTransaction(evm, fork, result)
  return to === null ? withoutCode(end) : withoutCreated(end)
}

/** Removes the output of a successful creation: the oracle returns the deployed code, this project's interpreters return nothing. */
function withoutCode(end: MessageEnd): MessageEnd {
  return end.kind === 'success' ? { ...end, output: '0x' } : end
}

function withoutCreated({ created: _, ...end }: MessageEnd): MessageEnd {
  return end
}

function stateOf(evm: EVM): StateLines {
  const state = evm.stateManager as OracleState
  const accounts: (readonly [Address, { nonce: bigint; balance: bigint; codeHash: ReturnType<typeof hashFromBytes> }])[] = []
  for (const [address, account] of state.topAccountStack()) {
    if (!account) continue
    const { nonce, balance, codeHash } = account
    accounts.push([parseAddress(address), { nonce, balance, codeHash: hashFromBytes(codeHash) }])
  }
  const existing = new Set(accounts.map(([address]) => address))
  const slots: (readonly [Address, bigint, bigint])[] = []
  for (const [name, value] of state.topStorageStack()) {
    const [address, slot] = name.split('_') as [Address, string]
    if (existing.has(address)) slots.push([address, BigInt(slot), bigintFromBytes(value)])
  }
  return linesOf(accounts, slots)
}

/** Runs a case on `@ethereumjs/evm`. Rejects when the oracle fails, as it does without a KZG library. */
export async function runOracle({ fork, old, accounts, messages }: EvmCase, watch?: OracleWatch): Promise<CaseEnd> {
  const evm = await oracleWith(old === 'frontier' ? 'chainstart' : (old ?? fork), accounts, watch)
  const ends: MessageEnd[] = []
  for (const message of messages) ends.push(await send(evm, fork, message))
  return { messages: ends, state: stateOf(evm) }
}
