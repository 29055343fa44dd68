import { createRequire } from 'node:module'
import { createEVM, type EVM } from '@ethereumjs/evm'
import type { EvmRules } from '#chainspec/evmRules'
import type { BlockEnv, HaltReason, Message, TransactionEnv } from '#evm/ports'
import type { FrameEnd, FrameKind, StateReader, TraceEvents, TraceStep } from '#evm/traceEvents'
import { bytesFromBigint, trimLeft } from '#lib/bytes'
import { fromHex, type Hex, toHex, toQuantity } from '#lib/hex'
import { type Address, type Hash, parseAddress, zeroHash } from '#types/ids'
import { precompileAddresses, precompileAt } from '../../../src/evm/precompiles/precompileAt.ts'

/** Events of a traced run by another interpreter: the reference for this project's tracers. */

type OracleAddress = Parameters<EVM['stateManager']['putCode']>[0]
type OracleAccount = NonNullable<Parameters<EVM['stateManager']['putAccount']>[1]>
type OracleOptions = NonNullable<Parameters<typeof createEVM>[0]>
type OracleState = EVM['stateManager'] & {
  topAccountStack(): Map<string, OracleAccount | undefined>
  topCodeStack(): Map<string, Uint8Array>
  topStorageStack(): Map<string, Uint8Array>
}
type OracleMessage = {
  readonly caller: OracleAddress
  readonly to?: OracleAddress
  readonly codeAddress?: OracleAddress
  readonly value: bigint
  readonly gasLimit: bigint
  readonly data: Uint8Array
  readonly depth: number
}
type OracleResult = {
  readonly createdAddress?: OracleAddress
  readonly execResult: {
    readonly executionGasUsed: bigint
    readonly returnValue: Uint8Array
    readonly exceptionError?: { readonly error: string }
  }
}
type OracleStep = {
  readonly pc: number
  readonly opcode: { readonly code: number; readonly fee: number; readonly dynamicFee?: bigint }
  readonly depth: number
  readonly gasLeft: bigint
  readonly gasRefund: bigint
  readonly stack: readonly bigint[]
  readonly memory: Uint8Array
  readonly address: OracleAddress
}

// these packages are dependencies of the oracle's package, not of this one
const beside = createRequire(createRequire(import.meta.url).resolve('@ethereumjs/evm'))
const { Account, createAddressFromString } = beside('@ethereumjs/util') as {
  Account: new (nonce: bigint, balance: bigint, storageRoot?: Uint8Array, codeHash?: Uint8Array) => OracleAccount
  createAddressFromString(address: string): OracleAddress
}
const { createCustomCommon, Mainnet } = beside('@ethereumjs/common') as {
  createCustomCommon(change: { chainId: number }, base: unknown, options: { hardfork: string }): NonNullable<OracleOptions['common']>
  Mainnet: unknown
}
const { SimpleStateManager } = beside('@ethereumjs/statemanager') as { SimpleStateManager: new () => OracleState }

/** State of the oracle that reads through to a state of this project and keeps its own changes. */
class ReadThrough extends SimpleStateManager {
  readonly #below: StateReader

  constructor(below: StateReader) {
    super()
    this.#below = below
  }

  override async getAccount(address: OracleAddress): Promise<OracleAccount | undefined> {
    const accounts = this.topAccountStack()
    const name = address.toString()
    if (!accounts.has(name)) {
      const found = this.#below.account(name as Address)
      const account = found && new Account(found.nonce, found.balance, fromHex(found.storageRoot), fromHex(found.codeHash))
      accounts.set(name, account)
    }
    return accounts.get(name)
  }

  override async getCode(address: OracleAddress): Promise<Uint8Array> {
    const name = address.toString()
    return this.topCodeStack().get(name) ?? this.#below.code(name as Address)
  }

  override async getStorage(address: OracleAddress, key: Uint8Array): Promise<Uint8Array> {
    const known = this.topStorageStack().get(`${address.toString()}_${toHex(key)}`)
    return known ?? trimLeft(bytesFromBigint(this.#below.slot(address.toString() as Address, toHex(key) as Hash), 32))
  }
}

/** Message of a transaction with its environment and state. */
export type OracleRun = {
  readonly message: Message
  readonly transaction: TransactionEnv
  readonly block: BlockEnv
  readonly rules: EvmRules
  /** State when the message begins: fees are paid and nonces raised. It is not changed. */
  readonly state: StateReader
  blockHash(number: number): Hash | undefined
}

/** Chain whose blocks have only a hash. */
function blockchainOf({ blockHash }: OracleRun): unknown {
  const blockchain = {
    getBlock: async (number: unknown) => ({ hash: () => fromHex(blockHash(Number(number)) ?? zeroHash) }),
    putBlock: async () => undefined,
    shallowCopy: () => blockchain,
  }
  return blockchain
}

async function oracleFor(run: OracleRun): Promise<EVM> {
  const { message, transaction, block, rules, state } = run
  const customPrecompiles = precompileAddresses(rules).map((address) => ({
    address: createAddressFromString(address).toString(),
    function: ({ data, gasLimit }: { data: Uint8Array; gasLimit: bigint }) => {
      const precompile = precompileAt(rules, address)
      const price = precompile?.gas(data) ?? 0n
      const output = price > gasLimit ? undefined : precompile?.run(data)
      if (output !== undefined) return { executionGasUsed: price, returnValue: output }
      return {
        executionGasUsed: gasLimit,
        returnValue: new Uint8Array(0),
        exceptionError: { error: price > gasLimit ? 'out of gas' : 'precompile', errorType: 'EVMError' },
      }
    },
  }))
  const evm = await createEVM({
    common: createCustomCommon({ chainId: Number(block.chainId) }, Mainnet, { hardfork: rules.fork }),
    stateManager: new ReadThrough(state),
    customPrecompiles: customPrecompiles as never,
    blockchain: blockchainOf(run) as never,
  })
  const warm = [transaction.origin, ...(message.to === null ? [] : [message.to]), ...precompileAddresses(rules)]
  if (rules.fork !== 'paris') warm.push(block.beneficiary)
  for (const address of warm) evm.journal.addAlwaysWarmAddress(address, true)
  for (const { address, slots } of transaction.warm) {
    evm.journal.addAlwaysWarmAddress(address, true)
    for (const slot of slots) evm.journal.addAlwaysWarmSlot(address, slot, true)
  }
  return evm
}

const haltReasons: Readonly<Record<string, HaltReason>> = {
  'out of gas': 'out of gas',
  'code store out of gas': 'out of gas',
  'code size to deposit exceeds maximum code size': 'code size',
  'stack underflow': 'stack underflow',
  'stack overflow': 'stack overflow',
  'invalid JUMP': 'invalid jump',
  'invalid opcode': 'invalid opcode',
  'value out of range': 'return data out of bounds',
  'static state change': 'write protection',
  'create collision': 'address collision',
  'insufficient balance': 'insufficient balance',
  'invalid bytecode deployed': 'invalid code',
  'initcode exceeds max initcode size': 'initcode size',
  precompile: 'precompile failure',
}

function endOf(error: string | undefined): FrameEnd['end'] {
  if (error === undefined) return 'success'
  // the error of a jump includes its location
  const end = error === 'revert' ? 'revert' : haltReasons[error.replace(/ at .*/, '')]
  if (end === undefined) throw new Error(`unknown error of the oracle: "${error}"`)
  return end
}

const kinds: Readonly<Record<number, FrameKind>> = {
  ...{ 240: 'CREATE', 241: 'CALL', 242: 'CALLCODE', 244: 'DELEGATECALL', 245: 'CREATE2', 250: 'STATICCALL' },
}

type OpenFrame = {
  readonly kind: FrameKind
  readonly message: OracleMessage
  readonly self: Address | undefined
  readonly value: bigint
  isTold: boolean
  lastOp: number
  /** Price of the last step by the oracle. */
  lastPrice: number
  returned: Uint8Array
  /** Transfer of a SELFDESTRUCT that is the last step. */
  left: { readonly to: Address; readonly balance: bigint } | undefined
}

const nameOf = (address: OracleAddress): Address => parseAddress(address.toString())

function stepOf(step: OracleStep, returned: Uint8Array): TraceStep {
  const { pc, opcode, depth, gasLeft, gasRefund, stack, memory } = step
  return {
    ...{ pc, depth, op: opcode.code, gas: Number(gasLeft), staticCost: opcode.fee, refund: Number(gasRefund), stackSize: stack.length },
    stack(below): bigint {
      const word = stack.at(-1 - below)
      if (word === undefined) throw new RangeError(`no word ${below} on the stack`)
      return word
    },
    stackHex(below): Hex {
      return toQuantity(this.stack(below))
    },
    memory: () => memory,
    returnData: () => returned,
  }
}

/** Emits the events of one message in the order that the interface defines. */
class EventSequence {
  readonly #events: TraceEvents
  readonly #rules: EvmRules
  readonly #evm: EVM
  readonly #frames: OpenFrame[] = []
  /** Prices of all steps, in order. */
  readonly prices: number[] = []

  constructor(evm: EVM, rules: EvmRules, events: TraceEvents) {
    this.#evm = evm
    this.#rules = rules
    this.#events = events
  }

  get #top(): OpenFrame {
    const top = this.#frames.at(-1)
    if (top === undefined) throw new Error('no frame')
    return top
  }

  enter(message: OracleMessage): void {
    const caller = this.#frames.at(-1)
    const kind = caller === undefined ? (message.to === undefined ? 'CREATE' : 'CALL') : kinds[caller.lastOp]
    if (kind === undefined) throw new Error('call without a call opcode')
    const value = kind === 'DELEGATECALL' ? (caller?.value ?? 0n) : message.value
    const self = message.to && nameOf(message.to)
    const frame = { kind, message, self, value, isTold: false, lastOp: -1, lastPrice: 0, returned: new Uint8Array(0), left: undefined }
    this.#frames.push(frame)
    if (self !== undefined) this.#emit(frame, self)
  }

  /** Emits the start of a creation, once its address is known. */
  created(address: OracleAddress): void {
    this.#emit(this.#top, nameOf(address))
  }

  #emit(frame: OpenFrame, self: Address): void {
    const { kind, message, value } = frame
    Object.assign(frame, { isTold: true, self })
    const isBorrowed = kind === 'DELEGATECALL' || kind === 'CALLCODE'
    const to = isBorrowed && message.codeAddress ? nameOf(message.codeAddress) : self
    this.#events.onEnter({
      ...{ kind, depth: this.#frames.length - 1, to, self },
      from: isBorrowed ? self : nameOf(message.caller),
      value: kind === 'STATICCALL' ? undefined : value,
      gas: Number(message.gasLimit),
      input: kind.startsWith('CREATE') ? ((message as { code?: Uint8Array } & OracleMessage).code ?? message.data) : message.data,
      isPrecompile: precompileAt(this.#rules, to) !== undefined,
    })
  }

  async step(step: OracleStep): Promise<void> {
    const frame = this.#top
    const { stack, opcode } = step
    frame.lastOp = opcode.code
    this.prices.push(Number(opcode.dynamicFee ?? opcode.fee))
    this.#events.onStep(stepOf(step, frame.returned))
    const top = stack.at(-1)
    if (opcode.code >= 0xa0 && opcode.code <= 0xa4) this.#log(step)
    if (opcode.code === 0xff && top !== undefined) {
      const balance = (await this.#evm.stateManager.getAccount(step.address))?.balance ?? 0n
      frame.left = { to: toHex(bytesFromBigint(top & ((1n << 160n) - 1n), 20)) as Address, balance }
    }
  }

  #log({ stack, opcode, memory, address }: OracleStep): void {
    const topics = opcode.code - 0xa0
    if (stack.length < topics + 2) return
    const [offset, size] = [Number(stack.at(-1)), Number(stack.at(-2))]
    if (size > 1_000_000) return
    const data = new Uint8Array(size)
    data.set(memory.subarray(offset, offset + size))
    const words = Array.from({ length: topics }, (_, i) => toHex(bytesFromBigint(stack.at(-3 - i) ?? 0n, 32)) as Hash)
    this.#events.onLog({ address: nameOf(address), topics: words, data })
  }

  leave({ execResult, createdAddress }: OracleResult): void {
    const frame = this.#top
    const depth = this.#frames.length - 1
    if (!frame.isTold && createdAddress !== undefined) this.created(createdAddress)
    const { executionGasUsed, returnValue, exceptionError } = execResult
    const end = endOf(exceptionError?.error)
    if (end === 'success' && frame.left !== undefined && frame.self !== undefined) {
      const { to, balance } = frame.left
      const self = frame.self
      const none = new Uint8Array(0)
      this.#events.onEnter({
        kind: 'SELFDESTRUCT',
        depth: depth + 1,
        from: self,
        to,
        self,
        value: balance,
        gas: 0,
        input: none,
        isPrecompile: false,
      })
      this.#events.onLeave({ depth: depth + 1, gasUsed: 0, output: none, end: 'success', opcode: undefined })
    }
    this.#frames.pop()
    const opcode = end === 'invalid opcode' ? frame.lastOp : undefined
    this.#events.onLeave({ depth, gasUsed: Number(executionGasUsed), output: returnValue, end, opcode })
    const caller = this.#frames.at(-1)
    if (caller) caller.returned = frame.kind.startsWith('CREATE') && end === 'success' ? new Uint8Array(0) : returnValue
  }
}

/**
 * Runs a message on another interpreter and emits its events. It emits none for calls that end at once, for their depth or for lack of balance, and
 * none for the STOP after the end of the code.
 * @returns the oracle's prices of the steps, in order
 */
export async function traceWithOracle(run: OracleRun, events: TraceEvents): Promise<readonly number[]> {
  const { message, transaction, block, rules } = run
  const evm = await oracleFor(run)
  const sequence = new EventSequence(evm, rules, events)
  evm.events?.on('beforeMessage', (data) => sequence.enter(data as never))
  evm.events?.on('newContract', ({ address }) => sequence.created(address as never))
  evm.events?.on('afterMessage', (data) => sequence.leave(data as never))
  evm.events?.on('step', (data, resolve) => void sequence.step(data as never).then(resolve))
  const header = {
    number: BigInt(block.number),
    coinbase: createAddressFromString(block.beneficiary),
    timestamp: BigInt(block.timestamp),
    difficulty: 0n,
    prevRandao: fromHex(block.prevRandao),
    gasLimit: block.gasLimit,
    baseFeePerGas: block.baseFee,
    getBlobGasPrice: () => block.blobBaseFee,
  }
  await evm.runCall({
    block: { header },
    caller: createAddressFromString(message.caller),
    origin: createAddressFromString(transaction.origin),
    ...(message.to !== null && { to: createAddressFromString(message.to), skipNonceIncrement: true }),
    gasPrice: transaction.gasPrice,
    gasLimit: message.gas,
    data: message.data,
    value: message.value,
  })
  return sequence.prices
}
