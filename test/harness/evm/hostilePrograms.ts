import type { EvmRules } from '#chainspec/evmRules'
import type { Evm, Message, Outcome } from '#evm/ports'
import { createWasmEvm } from '#evm/wasmEvm'
import { fromHex, toHex } from '#lib/hex'
import { genesisState } from '#state/genesisState'
import { push, testBlock, testTransaction } from '#test/harness/evm/host'
import { createReferenceEvm } from '#test/reference/referenceEvm'
import { type Address, parseAddress } from '#types/ids'
import { testAccount, testAddress } from './sessions.ts'

export type HostileAccount = { readonly address: Address; readonly code: string; readonly storage?: ReadonlyMap<`0x${string}`, bigint> }

export const attacker = testAddress(0xa1)
export const target = testAddress(0xc0)
export const reference = createReferenceEvm()
export const wasm = createWasmEvm()

/** Address 0x…100007 for 7. */
export const numbered = (i: number): Address => parseAddress(`0x${(0x100000 + i).toString(16).padStart(40, '0')}`)
export const none = new Uint8Array(0)

/** Endless loop whose body is repeated up to a code size of about 20 KB. */
export function forever(before: string, body: string): string {
  const times = Math.max(1, Math.floor(40_000 / body.length))
  return `0x${before}5b${body.repeat(times)}${push(before.length / 2)}56`
}

/** Code padded to a size with repeated bytes. */
export function padded(code: string, unit: string, size: number): string {
  const bytes = size - code.length / 2
  return `0x${code}${unit.repeat(Math.ceil((2 * bytes) / unit.length)).slice(0, 2 * bytes)}`
}

export type Run = { readonly outcome: Outcome; readonly diff: string }
export type Attack = { readonly accounts: readonly HostileAccount[]; readonly gas: bigint; readonly rules: EvmRules } & Partial<
  Pick<Message, 'data' | 'to' | 'value'>
>

/** Runs one transaction in a new session. */
export function attack(evm: Evm, { accounts, gas, rules, data = none, to = target, value = 0n }: Attack): Run {
  const parts = accounts.map(({ address, code, storage }) => testAccount(address, { code, balance: 10n, nonce: 1n, ...(storage && { storage: storage as never }) })) // biome-ignore format: one line
  const { view } = genesisState([...parts, testAccount(attacker, { balance: 10n ** 20n })]).state
  using session = evm.open(view, { ...testBlock, gasLimit: gas }, rules)
  session.beginTransaction(testTransaction(attacker))
  const outcome = session.run({ caller: attacker, to, value, data, gas })
  session.endTransaction()
  return { outcome, diff: toHex(new Uint8Array(session.diff().bytes)) }
}

/** Part of a run on which interpreters must agree. The reason of a halt may differ. */
export function seen({ outcome, diff }: Run): unknown {
  const { kind, gasLeft, gasRefund, output } = outcome
  const logs = outcome.kind === 'success' ? outcome.logs.map(({ address, topics, data }) => [address, topics, toHex(data)]) : []
  const created = outcome.kind === 'success' ? outcome.created : undefined
  return { kind, gasLeft: `${gasLeft}`, gasRefund: `${gasRefund}`, output: toHex(output), logs, created, diff }
}

/**
 * Runs many small programs in one session, each in its own transaction.
 * @returns the result of each, and the state after all of them
 */
export function endsOf(evm: Evm, rules: EvmRules, programs: Iterable<string>, gas: bigint): { ends: string[]; diff: string } {
  const { view } = genesisState([testAccount(attacker, { balance: 10n ** 20n }), testAccount(target, { nonce: 1n, balance: 10n })]).state
  using session = evm.open(view, testBlock, rules)
  const ends: string[] = []
  for (const code of programs) {
    session.setCode(target, fromHex(`0x${code}`))
    session.beginTransaction(testTransaction(attacker))
    const { kind, gasLeft, gasRefund, output } = session.run({ caller: attacker, to: target, value: 0n, data: none, gas })
    session.endTransaction()
    ends.push(`${code.slice(0, 80)} ${kind} ${gasLeft} ${gasRefund} ${toHex(output)}`)
  }
  return { ends, diff: toHex(new Uint8Array(session.diff().bytes)) }
}
