import { baseFeeVault } from '#chainspec/addresses'
import { equalBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp, rlpScalar } from '#lib/rlp'
import { type Address, addressFromBytes, type Hash } from '#types/ids'
import { cellAddress, cellCode, cellInit, cellSlots, codeHashOf, heirOfDoomed, type Machine, programOf, wordOf } from './programs.ts'
import { ReferenceTrie, storageTrie, trieKey } from './referenceTrie.ts'

/** Account of the model; never changed, only replaced. */
export type ModelAccount = {
  readonly nonce: bigint
  readonly balance: bigint
  readonly code: Uint8Array
  readonly slots: ReadonlyMap<Hash, bigint>
}
/** All accounts after a block. */
export type World = ReadonlyMap<Address, ModelAccount>

/** A transaction as the model understands it. `raw` is what the product executes. */
export type Action = {
  readonly raw: Uint8Array
  readonly hash: Hash
  readonly sender: Address
  readonly to: Address | null
  readonly value: bigint
  readonly data: Uint8Array
  /** Set for deposits, in wei; their gas is free. */
  readonly mint?: bigint
  /** Nonce that a signed transaction requires. */
  readonly nonce?: bigint
  readonly maxTip: bigint
}

export type ModelLog = { readonly address: Address; readonly topics: readonly Hash[]; readonly data: Uint8Array }
/** Result of a transaction. */
export type Result = { readonly succeeded: boolean; readonly gasUsed: bigint; readonly logs: readonly ModelLog[] }

export type BlockFacts = {
  readonly baseFee: bigint
  readonly beneficiary: Address
  /** Whether SELFDESTRUCT removes accounts of earlier transactions (before Ecotone). */
  readonly destroys: boolean
}

const noCode = new Uint8Array(0)
const absent: ModelAccount = { nonce: 0n, balance: 0n, code: noCode, slots: new Map() }
const isEmpty = ({ nonce, balance, code }: ModelAccount): boolean => nonce === 0n && balance === 0n && code.length === 0

const roots = new WeakMap<ModelAccount['slots'], Hash>()
const leaves = new WeakMap<ModelAccount, Uint8Array>()

export function storageRootOf({ slots }: ModelAccount): Hash {
  const known = roots.get(slots)
  if (known) return known
  const { root } = storageTrie(slots)
  roots.set(slots, root)
  return root
}

function leafOf(account: ModelAccount): Uint8Array {
  const known = leaves.get(account)
  if (known) return known
  const { nonce, balance, code } = account
  const leaf = encodeRlp([rlpScalar(nonce), rlpScalar(balance), fromHex(storageRootOf(account)), fromHex(codeHashOf(code))])
  leaves.set(account, leaf)
  return leaf
}

export function stateTrie(world: World): ReferenceTrie {
  return new ReferenceTrie([...world].map(([address, account]) => ({ key: trieKey(address), value: leafOf(account) })))
}

/** Address of a contract that an account creates. */
export function createdAddress(creator: Address, nonce: bigint): Address {
  return addressFromBytes(keccak256(encodeRlp([fromHex(creator), rlpScalar(nonce)])).subarray(12))
}

/** Accounts during a block. A transaction that fails restores them. */
class Draft {
  accounts: Map<Address, ModelAccount>
  logs: ModelLog[] = []
  /** Accounts that leave the state when the transaction ends. */
  doomed = new Set<Address>()
  readonly #destroys: boolean

  constructor(world: World, destroys: boolean) {
    this.accounts = new Map(world)
    this.#destroys = destroys
  }

  get(address: Address): ModelAccount {
    return this.accounts.get(address) ?? absent
  }

  change(address: Address, change: Partial<ModelAccount>): void {
    this.accounts.set(address, { ...this.get(address), ...change })
  }

  pay(address: Address, wei: bigint): void {
    this.change(address, { balance: this.get(address).balance + wei })
  }

  transfer(from: Address, to: Address, wei: bigint): void {
    this.pay(from, -wei)
    this.pay(to, wei)
  }

  count(address: Address): void {
    this.change(address, { nonce: this.get(address).nonce + 1n })
  }

  /** Moves the balance to the heir. @param isNew the account was created by the same transaction */
  destroy(address: Address, heir: Address, isNew: boolean): void {
    const isRemoved = this.#destroys || isNew
    const { balance } = this.get(address)
    if (heir !== address) this.transfer(address, heir, balance)
    else if (isRemoved) this.change(address, { balance: 0n })
    if (isRemoved) this.doomed.add(address)
  }

  createCell(address: Address): void {
    this.change(address, { nonce: 1n, code: cellCode, slots: new Map(cellSlots) })
  }

  endTransaction(): readonly ModelLog[] {
    for (const address of this.doomed) this.accounts.delete(address)
    for (const [address, account] of this.accounts) if (isEmpty(account)) this.accounts.delete(address)
    const { logs } = this
    this.logs = []
    this.doomed = new Set()
    return logs
  }
}

function machineOn(draft: Draft, self: Address, { value, data }: Action): Machine {
  return {
    self,
    value,
    words: data.length / 32,
    word: (index) => (index < data.length / 32 ? wordAt(data, index) : wordOf(0)),
    store(slot, stored) {
      const slots = new Map(draft.get(self).slots)
      if (stored === 0n) slots.delete(slot)
      else slots.set(slot, stored)
      draft.change(self, { slots })
    },
    log: (topics, bytes) => void draft.logs.push({ address: self, topics, data: bytes }),
    destroy: (heir) => draft.destroy(self, heir, false),
    createCell(salt) {
      const address = cellAddress(self, salt)
      const { nonce, code } = draft.get(address)
      draft.count(self)
      if (nonce > 0n || code.length > 0) return
      draft.createCell(address)
      draft.transfer(self, address, value)
    },
  }
}

const wordAt = (data: Uint8Array, index: number): Hash => toHex(data.subarray(32 * index, 32 * index + 32)) as Hash

/** Runs the message of a transaction. @returns whether it succeeded; otherwise its effects are undone */
function runMessage(draft: Draft, action: Action, nonce: bigint): boolean {
  const { sender, to, value, data } = action
  if (draft.get(sender).balance < value) return false
  const target = to ?? createdAddress(sender, nonce)
  draft.transfer(sender, target, value)
  if (to === null) {
    const heir = heirOfDoomed(data)
    if (heir) draft.destroy(target, heir, true)
    else if (equalBytes(data, cellInit)) draft.createCell(target)
    else throw new RangeError('init code that the model does not know')
    return true
  }
  const { code } = draft.get(target)
  if (code.length === 0) return true
  const before = { accounts: new Map(draft.accounts), logs: [...draft.logs] }
  if (programOf(code).run(machineOn(draft, target, action)) === 'success') return true
  Object.assign(draft, before)
  draft.transfer(target, sender, value)
  return false
}

/**
 * Applies transactions to a world by their known effects. Fees follow from the gas that the product reports.
 * @param gasUsed gas of each transaction
 */
export function applyBlock(
  world: World,
  actions: readonly Action[],
  gasUsed: readonly bigint[],
  facts: BlockFacts,
): { readonly world: World; readonly results: readonly Result[] } {
  const draft = new Draft(world, facts.destroys)
  const results = actions.map((action, index): Result => {
    const { sender, mint, maxTip } = action
    const gas = gasUsed[index] ?? 0n
    const { nonce } = draft.get(sender)
    if (mint !== undefined) draft.pay(sender, mint)
    draft.count(sender)
    const succeeded = runMessage(draft, action, nonce)
    if (mint === undefined) {
      draft.pay(sender, -gas * (facts.baseFee + maxTip))
      draft.pay(facts.beneficiary, gas * maxTip)
      draft.pay(baseFeeVault, gas * facts.baseFee)
    }
    return { succeeded, gasUsed: gas, logs: draft.endTransaction() }
  })
  return { world: draft.accounts, results }
}
