import type { EvmFork, EvmRules } from '#chainspec/evmRules'
import { type Evm, type EvmSession, type Message, MissingState, type Outcome, type StateView, type WantedState } from '#evm/ports'
import { bigintFromBytes, bytesFromBigint } from '#lib/bytes'
import { fromHex, type Hex, toHex } from '#lib/hex'
import { keccak256, keccak256Text } from '#lib/keccak'
import type { EthereumRules, OldEvmFork } from '#test/reference/oldForks'
import type { Account } from '#types/account'
import { type Address, emptyCodeHash, emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import { cancun, osaka, paris, prague, shanghai, testBlock } from './host.ts'

export type CaseAccount = {
  readonly nonce: bigint
  readonly balance: bigint
  readonly code: Uint8Array
  readonly storage: ReadonlyMap<bigint, bigint>
}

export type CaseMessage = {
  readonly from: Address
  readonly to: Address | null
  readonly value: bigint
  readonly data: Uint8Array
  readonly gas: bigint
  /** Addresses and slots of the access list (EIP-2930). */
  readonly warm?: readonly { readonly address: Address; readonly slots: readonly Hash[] }[]
  readonly blobHashes?: readonly Hash[]
  /** Code that is set before the message runs, as by an authorization (EIP-7702). */
  readonly setCode?: { readonly of: Address; readonly code: Uint8Array }
}

/** A state, and messages that run on it in one session, each in its own transaction. */
export type EvmCase = {
  readonly fork: EvmFork
  /** Replaces `fork` by one before Paris, which only the reference interpreter and the oracle support. */
  readonly old?: OldEvmFork
  readonly accounts: ReadonlyMap<Address, CaseAccount>
  readonly messages: readonly CaseMessage[]
}

/** Result of a message on which all interpreters must agree. It omits the reason of a halt: every halt uses all gas and reverts all changes. */
export type MessageEnd = {
  readonly kind: Outcome['kind']
  readonly gasUsed: bigint
  readonly gasRefund: bigint
  readonly output: Hex
  /** Address, topics and data of each log, as text. */
  readonly logs: readonly string[]
  readonly created?: Address
}

/** State after all messages: a line for each account and each non-zero slot, by hashed keys, sorted. */
export type StateLines = readonly string[]
export type CaseEnd = { readonly messages: readonly MessageEnd[]; readonly state: StateLines }

const rules: Readonly<Record<EvmFork, EvmRules>> = { paris, shanghai, cancun, prague, osaka }
/** Ethereum's rules, without the limits of OP chains. */
export const rulesOf = (fork: EvmFork): EvmRules => rules[fork]

const rulesFor = ({ fork, old }: EvmCase): EthereumRules => (old === undefined ? rulesOf(fork) : { ...paris, old })

const keys = new Map<Address, Hex>()

/** Keccak hash of the address. */
export function addressKeyOf(address: Address): Hex {
  const known = keys.get(address)
  if (known) return known
  const key = toHex(keccak256(fromHex(address)))
  if (keys.size > 10_000) keys.clear()
  keys.set(address, key)
  return key
}

const slotKeys = new Map<bigint, Hex>()

/** Keccak hash of the slot's number in 32 bytes. */
export function slotKeyOf(slot: bigint): Hex {
  const known = slotKeys.get(slot)
  if (known) return known
  const key = toHex(keccak256(bytesFromBigint(slot, 32)))
  if (slotKeys.size < 1_000) slotKeys.set(slot, key)
  return key
}

const codeHashOf = (code: Uint8Array): Hash => (code.length === 0 ? emptyCodeHash : hashFromBytes(keccak256(code)))

/** Placeholder for any root other than the empty one. */
const someRoot = `0x${'5a'.repeat(32)}` as Hash

/** Keccak hash of the number in decimal digits. */
export const blockHashOf = (number: number): Hash => hashFromBytes(keccak256Text(`${number}`))

const views = new WeakMap<EvmCase['accounts'], StateView>()

/** State before a case. The same map gives the same view. */
export function viewOf(accounts: EvmCase['accounts']): StateView {
  const known = views.get(accounts)
  if (known) return known
  const view = createView(accounts)
  views.set(accounts, view)
  return view
}

function createView(accounts: EvmCase['accounts']): StateView {
  const byKey = new Map<string, { readonly account: Account; readonly slots: ReadonlyMap<string, Uint8Array> }>()
  const codes = new Map<Hash, Uint8Array>()
  for (const [address, { nonce, balance, code, storage }] of accounts) {
    const codeHash = codeHashOf(code)
    codes.set(codeHash, code)
    const slots = new Map([...storage].map(([slot, value]) => [slotKeyOf(slot), bytesFromBigint(value, 32)] as const))
    const account = { nonce, balance, codeHash, storageRoot: slots.size === 0 ? emptyRoot : someRoot }
    byKey.set(addressKeyOf(address), { account, slots })
  }
  return {
    account: (key) => byKey.get(toHex(key))?.account,
    slot: (addressKey, slotKey) => byKey.get(toHex(addressKey))?.slots.get(toHex(slotKey)),
    code(codeHash): Uint8Array {
      const code = codes.get(codeHash)
      if (!code) throw new Error(`code ${codeHash} is not in the case`)
      return code
    },
    blockHash: blockHashOf,
  }
}

function endOf(outcome: Outcome, gas: bigint): MessageEnd {
  return {
    kind: outcome.kind,
    gasUsed: gas - outcome.gasLeft,
    gasRefund: outcome.gasRefund,
    output: toHex(outcome.output),
    logs:
      outcome.kind === 'success' ? outcome.logs.map(({ address, topics, data }) => `${address} ${topics.join(' ')} ${toHex(data)}`) : [],
    ...(outcome.kind === 'success' && outcome.created !== undefined && { created: outcome.created }),
  }
}

/** Calls a function that may read the view: once, or repeatedly until the view has the missing state. */
type ViewCalls = { at<T>(ask: () => T): T; run(session: EvmSession, message: Message): Outcome }

const directCalls: ViewCalls = { at: (ask) => ask(), run: (session, message) => session.run(message) }

/** For a view that throws MissingState at the first read of each item. */
const repeatedCalls: ViewCalls = {
  at(ask) {
    for (;;) {
      try {
        return ask()
      } catch (error) {
        if (!(error instanceof MissingState)) throw error
      }
    }
  },
  run(session, message) {
    let isBegun = false
    return repeatedCalls.at(() => {
      if (isBegun) return session.resume()
      isBegun = true
      return session.run(message)
    })
  },
}

/** Runs one message as a transaction without fees. */
function send(session: EvmSession, calls: ViewCalls, message: CaseMessage): MessageEnd {
  const { from, to, value, data, gas, warm = [], blobHashes = [], setCode } = message
  calls.at(() => session.beginTransaction({ origin: from, gasPrice: 10n, blobHashes, warm }))
  if (setCode) calls.at(() => session.setCode(setCode.of, setCode.code))
  const end = endOf(calls.run(session, { caller: from, to, value, data, gas }), gas)
  calls.at(() => session.endTransaction())
  return end
}

export type CaseRun = {
  readonly messages: readonly MessageEnd[]
  readonly diff: StateDiff
  /** Final accounts of the case as the session reads them. */
  readonly reads: readonly string[]
}

/** View that throws MissingState at the first read of each item. */
function missingAtFirst(view: StateView): StateView {
  const seen = new Set<string>()
  const missOnce = (name: string, wanted: WantedState): void => {
    if (seen.has(name)) return
    seen.add(name)
    throw new MissingState(wanted)
  }
  return {
    account(addressKey) {
      missOnce(toHex(addressKey), { kind: 'account', addressKey })
      return view.account(addressKey)
    },
    slot(addressKey, slotKey) {
      missOnce(toHex(addressKey) + toHex(slotKey), { kind: 'slot', addressKey, slotKey })
      return view.slot(addressKey, slotKey)
    },
    code(codeHash) {
      missOnce(`code ${codeHash}`, { kind: 'code', codeHash })
      return view.code(codeHash)
    },
    blockHash(number) {
      missOnce(`${number}`, { kind: 'blockHash', number })
      return view.blockHash(number)
    },
  }
}

/**
 * Runs a case on an interpreter of this project.
 * @param state `missing`: the view throws MissingState at the first read of each item; the message is interrupted and resumed each time
 */
export function runCase(evm: Evm, given: EvmCase, state: 'there' | 'missing' = 'there'): CaseRun {
  const { accounts, messages } = given
  const view = viewOf(accounts)
  const calls = state === 'there' ? directCalls : repeatedCalls
  using session = evm.open(state === 'there' ? view : missingAtFirst(view), testBlock, rulesFor(given))
  const ends = messages.map((message) => send(session, calls, message))
  const reads = [...accounts.keys()].map((address) => {
    const account = calls.at(() => session.account(address))
    const code = account ? calls.at(() => session.code(address)).length : 0
    return account ? `${address} ${account.nonce} ${account.balance} ${account.codeHash} ${code}` : `${address} none`
  })
  return { messages: ends, diff: calls.at(() => session.diff()), reads }
}

const accountLine = (key: string, { nonce, balance, codeHash }: { nonce: bigint; balance: bigint; codeHash: Hash }): string =>
  `${key} nonce ${nonce} balance ${balance} code ${codeHash}`

/** Returns the state of the case's accounts after a diff. */
export function stateAfter(accounts: EvmCase['accounts'], diff: StateDiff): StateLines {
  const lines = new Map<string, string>()
  for (const [address, { nonce, balance, code, storage }] of accounts) {
    const key = addressKeyOf(address)
    const codeHash = codeHashOf(code)
    if (diff.account(fromHex(key)) !== null) lines.set(key, accountLine(key, { nonce, balance, codeHash }))
    if (diff.isWiped(fromHex(key))) continue
    for (const [slot, value] of storage) setSlotLine(lines, key, slotKeyOf(slot), value)
  }
  for (const { key, change } of diff.accounts()) if (change) lines.set(toHex(key), accountLine(toHex(key), change))
  for (const { addressKey, slotKey, value } of diff.slots()) setSlotLine(lines, toHex(addressKey), toHex(slotKey), bigintFromBytes(value))
  return [...lines.values()].sort()
}

function setSlotLine(lines: Map<string, string>, key: string, slotKey: string, value: bigint): void {
  const name = `${key} slot ${slotKey}`
  if (value === 0n) lines.delete(name)
  else lines.set(name, `${name} = ${value}`)
}

/** Returns the lines of a state given by address, for an interpreter of another project. */
export function linesOf(
  accounts: Iterable<readonly [Address, { readonly nonce: bigint; readonly balance: bigint; readonly codeHash: Hash }]>,
  slots: Iterable<readonly [Address, bigint, bigint]>,
): StateLines {
  const lines = new Map<string, string>()
  for (const [address, account] of accounts) lines.set(addressKeyOf(address), accountLine(addressKeyOf(address), account))
  for (const [address, slot, value] of slots) setSlotLine(lines, addressKeyOf(address), slotKeyOf(slot), value)
  return [...lines.values()].sort()
}
