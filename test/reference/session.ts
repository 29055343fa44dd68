import type { EvmRules } from '#chainspec/evmRules'
import { evmForks } from '#chainspec/evmRules'
import type { BlockEnv, EvmSession, InterruptCheck, Message, Outcome, ReadKeys, StateView, TransactionEnv } from '#evm/ports'
import { emptyBytes } from '#lib/bytes'
import { warmNativeContracts } from '#nativeContracts/addresses'
import { createNativeRules } from '#nativeContracts/rules'
import type { Account } from '#types/account'
import { type Address, emptyRoot, type Hash } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import { beginCall, delegateOf } from './calls.ts'
import type { CodeCache } from './code.ts'
import { beginCreate } from './create.ts'
import { changedIn, diffOf } from './diff.ts'
import { type Frame, setGas, totalGas } from './frame.ts'
import { interpret } from './interpreter.ts'
import { type AccountState, Journal } from './journal.ts'
import { type BlockWords, codeOf, type Ended, type Machine, type TransactionWords } from './machine.ts'
import { oldRulesOf } from './oldRules.ts'
import { operationsOf } from './opcodes.ts'
import { WordMap, WordSet } from './wordMap.ts'
import { addressOf } from './words.ts'

function blockWords(block: BlockEnv): BlockWords {
  return {
    chainId: block.chainId,
    number: BigInt(block.number),
    timestamp: BigInt(block.timestamp),
    beneficiary: BigInt(block.beneficiary),
    prevRandao: BigInt(block.prevRandao),
    gasLimit: block.gasLimit,
    baseFee: block.baseFee,
    blobBaseFee: block.blobBaseFee,
  }
}

const noTransaction: TransactionWords = { origin: 0n, gasPrice: 0n, blobHashes: [], warmAccounts: new WordSet(), warmSlots: new WordMap() }

/**
 * Returns the transaction environment with the initial warm set of EIP-2929: the sender, the transaction's entries, and from Shanghai on the
 * beneficiary (EIP-3651).
 */
function transactionWords(env: TransactionEnv, machine: Machine): TransactionWords {
  const origin = BigInt(env.origin)
  const warmAccounts = new WordSet().add(origin)
  if (machine.isShanghai) warmAccounts.add(machine.block.beneficiary)
  for (const address of machine.alwaysWarm) warmAccounts.add(BigInt(address))
  const warmSlots = new WordMap<WordSet>()
  for (const { address, slots } of env.warm) {
    const word = BigInt(address)
    warmAccounts.add(word)
    const warm = warmSlots.get(word) ?? new WordSet()
    for (const slot of slots) warm.add(BigInt(slot))
    warmSlots.set(word, warm)
  }
  return { origin, gasPrice: env.gasPrice, blobHashes: env.blobHashes.map(BigInt), warmAccounts, warmSlots }
}

function createMachine(view: StateView, block: BlockEnv, rules: EvmRules, codes: CodeCache): Machine {
  const { fork } = rules
  const order = evmForks.indexOf(fork)
  return {
    fork,
    isShanghai: order >= evmForks.indexOf('shanghai'),
    isCancun: order >= evmForks.indexOf('cancun'),
    isPrague: order >= evmForks.indexOf('prague'),
    rules,
    natives: rules.nativeContracts && createNativeRules(rules.nativeContracts),
    alwaysWarm: rules.nativeContracts ? warmNativeContracts(rules.nativeContracts.fork) : [],
    old: oldRulesOf(rules),
    operations: operationsOf(rules),
    journal: new Journal(view, oldRulesOf(rules)?.clearsEmpty ?? true),
    codes,
    block: blockWords(block),
    transaction: noTransaction,
    refund: 0,
    interruptCheck: undefined,
    untilPace: 0,
    frames: [],
    stacks: [],
    memories: [],
  }
}

function beginMessage(machine: Machine, message: Message, of: (address: Address) => AccountState): Frame | Ended {
  const { journal } = machine
  const caller = of(message.caller)
  const gas = { gas: 0, reserve: 0n }
  setGas(gas, message.gas)
  if (message.to === null) {
    return beginCreate(machine, { creator: caller, value: message.value, initcode: message.data, salt: undefined, ...gas, depth: 0 })
  }
  const self = of(message.to)
  journal.warm(self)
  return beginCall(machine, {
    self,
    caller: caller.address,
    value: message.value,
    payer: caller,
    codeAddress: self.address,
    isBorrowed: false,
    code: runnableCode(machine, self),
    input: message.data,
    isStatic: false,
    ...gas,
    depth: 0,
    outputTo: 0,
    outputSize: 0,
  })
}

/** Returns the code that a message to the account runs. A delegate is warm without charge (EIP-7702). */
function runnableCode(machine: Machine, account: AccountState): ReturnType<typeof codeOf> {
  const code = codeOf(machine, account)
  const delegate = delegateOf(machine, code)
  if (delegate === undefined) return code
  const target = machine.journal.account(delegate)
  machine.journal.warm(target)
  return codeOf(machine, target)
}

function outcomeOf(machine: Machine, ended: Ended): Outcome {
  const { state, output } = ended
  const gasLeft = totalGas(ended)
  if (state === 'revert') return { kind: 'revert', gasLeft, gasRefund: 0n, output }
  if (state !== 'success') return { kind: 'halt', reason: state, gasLeft, gasRefund: 0n, output: emptyBytes }
  const created = ended.created === undefined ? {} : { created: addressOf(ended.created) }
  return { kind: 'success', gasLeft, gasRefund: BigInt(machine.refund), output, logs: [...machine.journal.logs()], ...created }
}

/** State of one block while it runs, with the public interface over journal and machine. */
export class ReferenceSession implements EvmSession {
  readonly #machine: Machine
  readonly #journal: Journal
  /** Cache of accounts, because the same few are read repeatedly. */
  readonly #accounts = new Map<Address, AccountState>()
  /** Default interrupt check, for messages that are run without one. */
  readonly #usualPace: InterruptCheck | undefined
  #running: { readonly message: Message; readonly interruptCheck: InterruptCheck | undefined; readonly checkpoint: number } | undefined

  constructor(view: StateView, block: BlockEnv, rules: EvmRules, codes: CodeCache, interruptCheck?: InterruptCheck) {
    this.#usualPace = interruptCheck
    this.#machine = createMachine(view, block, rules, codes)
    this.#journal = this.#machine.journal
  }

  #of(address: Address): AccountState {
    const known = this.#accounts.get(address)
    if (known) return known
    const account = this.#journal.account(BigInt(address))
    this.#accounts.set(address, account)
    return account
  }

  account(address: Address): Account | undefined {
    const { exists, nonce, balance, codeHash, before, isWiped } = this.#of(address)
    if (!exists) return undefined
    const storageRoot = before && !isWiped ? before.storageRoot : emptyRoot
    return { nonce, balance, codeHash, storageRoot }
  }

  slot(address: Address, slot: Hash): bigint {
    return this.#journal.slot(this.#of(address), BigInt(slot)).value
  }

  code(address: Address): Uint8Array {
    return this.#journal.code(this.#of(address).codeHash)
  }

  addBalance(address: Address, wei: bigint): void {
    const account = this.#of(address)
    this.#journal.setBalance(account, account.balance + wei)
  }

  subtractBalance(address: Address, wei: bigint): void {
    const account = this.#of(address)
    if (account.balance < wei) throw new RangeError(`${address} has ${account.balance} wei, not ${wei}`)
    this.#journal.setBalance(account, account.balance - wei)
  }

  setNonce(address: Address, nonce: bigint): void {
    this.#journal.setNonce(this.#of(address), nonce)
  }

  setCode(address: Address, code: Uint8Array): void {
    this.#journal.setCode(this.#of(address), code)
  }

  setSlot(address: Address, slot: Hash, value: bigint): void {
    this.#journal.setSlot(this.#journal.slot(this.#of(address), BigInt(slot)), value)
  }

  checkpoint(): number {
    return this.#journal.checkpoint()
  }

  revertTo(checkpoint: number): void {
    this.#journal.revertTo(checkpoint)
  }

  beginTransaction(env: TransactionEnv): void {
    this.#machine.transaction = transactionWords(env, this.#machine)
    this.#machine.refund = 0
  }

  run(message: Message, interruptCheck: InterruptCheck | undefined = this.#usualPace): Outcome {
    this.#running = { message, interruptCheck, checkpoint: this.#journal.checkpoint() }
    return this.#begin(message, interruptCheck)
  }

  /** Restarts the message; this interpreter is not optimised for speed. */
  resume(): Outcome {
    if (!this.#running) throw new RangeError('no message to resume')
    const { message, interruptCheck, checkpoint } = this.#running
    this.#journal.revertTo(checkpoint)
    // memories of the abandoned frames are not cleared
    this.#machine.memories.length = 0
    return this.#begin(message, interruptCheck)
  }

  #begin(message: Message, interruptCheck: InterruptCheck | undefined): Outcome {
    const machine = this.#machine
    machine.frames.length = 0
    machine.refund = 0
    machine.interruptCheck = interruptCheck
    const next = beginMessage(machine, message, (address) => this.#of(address))
    const outcome = outcomeOf(machine, 'stack' in next ? interpret(machine, next) : next)
    this.#running = undefined
    return outcome
  }

  endTransaction(): void {
    this.#journal.endTransaction()
    this.#machine.transaction = noTransaction
  }

  diff(): StateDiff {
    return diffOf(this.#journal)
  }

  changed(): readonly Address[] {
    return changedIn(this.#journal)
  }

  readKeys(): ReadKeys {
    return this.#journal.readKeys()
  }

  [Symbol.dispose](): void {}
}
