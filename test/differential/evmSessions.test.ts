import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type EvmFork, type EvmRules, evmForks } from '#chainspec/evmRules'
import { type EvmSession, MissingState, type StateView } from '#evm/ports'
import { createWasmEvm } from '#evm/wasmEvm'
import { fromHex, toHex } from '#lib/hex'
import { addressOf, push, testAccount, testBlock } from '#test/harness/evm/host'
import { plainRules } from '#test/harness/evm/sessions'
import { createReferenceEvm } from '#test/reference/referenceEvm'
import { createWorld } from '#test/vectors/stateTestWorld'
import type { Address, Hash } from '#types/ids'

const precompile = `0x${'04'.padStart(40, '0')}` as Address
/** Contracts, an account with wei, one with storage and no code, an empty one, an absent one, a precompile, the beneficiary. */
const contracts = [addressOf(0x21), addressOf(0x22), addressOf(0x23)]
const rich = addressOf(0x31)
const addresses = [...contracts, rich, addressOf(0x32), addressOf(0x33), addressOf(0x34), precompile, testBlock.beneficiary]
const slots = [0, 1, 2].map((slot) => `0x${slot.toString(16).padStart(64, '0')}` as Hash)

const address = fc.constantFrom(...addresses)
const contract = fc.constantFrom(...contracts)
const small = fc.nat(3)

/** Pieces of code that leave the stack unchanged or end the frame. */
const piece = fc.oneof(
  fc.tuple(small, small).map(([slot, value]) => `${push(value)}${push(slot)}55`),
  fc.tuple(small, small).map(([slot, by]) => `${push(slot)}54${push(by)}01${push(slot)}55`),
  fc.tuple(small, small).map(([slot, to]) => `${push(slot)}5c${push(1)}01${push(slot)}5d${push(slot)}5c${push(to)}55`),
  fc.tuple(address, small, small).map(([to, slot, times]) => `${push(to)}31${push(times)}02${push(slot)}55`),
  fc.tuple(address, small).map(([to, slot]) => `${push(to)}3f${push(slot)}55`),
  fc
    .tuple(fc.constantFrom('f1', 'f2'), address, small, fc.constantFrom(0, 2_000, 60_000, 10_000_000), small)
    .map(([op, to, value, gas, slot]) => `${push(0).repeat(4)}${push(value)}${push(to)}${push(gas)}${op}${push(slot)}55`),
  fc
    .tuple(fc.constantFrom('f4', 'fa'), address, fc.constantFrom(0, 30_000, 10_000_000))
    .map(([op, to, gas]) => `${push(0).repeat(4)}${push(to)}${push(gas)}${op}50`),
  // initcode in memory: stores, transfers its wei, or returns one byte of code
  fc.tuple(fc.constantFrom('600160025500', '32ff', '60016000f3', '6001600052fe'), small, fc.boolean()).map(([init, value, isSalted]) => {
    const size = init.length / 2
    const given = `${push(size)}${push(32 - size)}${push(value)}`
    return `${push(`0x${init}`)}${push(0)}52${isSalted ? `${push(7)}${given}f5` : `${given}f0`}50`
  }),
  fc.tuple(fc.nat(4), fc.nat(40)).map(([topics, size]) => `${push(9).repeat(topics)}${push(size)}${push(0)}a${topics.toString(16)}`),
  fc.tuple(small, small).map(([at, slot]) => `${push(testBlock.number - at)}40${push(slot)}55`),
  fc.constantFrom('00', 'fe', `${push(4)}${push(0)}fd`, `${push(4)}${push(0)}f3`),
  address.map((to) => `${push(to)}ff`),
)
const code = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => `0x${pieces.join('')}`)

type Step =
  | { readonly kind: 'add' | 'take'; readonly of: Address; readonly wei: bigint }
  | { readonly kind: 'nonce'; readonly of: Address; readonly nonce: bigint }
  | { readonly kind: 'code'; readonly of: Address; readonly code: string }
  | { readonly kind: 'checkpoint' | 'end' | 'diff' }
  | { readonly kind: 'revert'; readonly to: number }
  | { readonly kind: 'run'; readonly to: Address | null; readonly value: bigint; readonly gas: bigint; readonly data: string }

const wei = fc.bigInt({ min: 0n, max: 5n })
const run = fc.record({
  kind: fc.constant('run' as const),
  to: fc.option(contract, { freq: 6 }),
  value: wei,
  gas: fc.constantFrom(0n, 30_000n, 100_000n, 1_000_000n, 2n ** 63n),
  data: code,
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: run, weight: 6 },
  { arbitrary: fc.record({ kind: fc.constantFrom('add' as const, 'take' as const), of: address, wei }), weight: 2 },
  { arbitrary: fc.record({ kind: fc.constant('nonce' as const), of: address, nonce: fc.constantFrom(0n, 1n, 2n ** 64n - 1n) }), weight: 1 },
  { arbitrary: fc.record({ kind: fc.constant('code' as const), of: contract, code: fc.oneof(code, fc.constant('0x'), address.map((to) => `0xef0100${to.slice(2)}`)) }), weight: 1 }, // biome-ignore format: one line
  { arbitrary: fc.record({ kind: fc.constantFrom('checkpoint' as const, 'end' as const, 'diff' as const) }), weight: 3 },
  { arbitrary: fc.record({ kind: fc.constant('revert' as const), to: fc.nat(5) }), weight: 1 },
)

const anyWorld = fc.record({
  codes: fc.tuple(code, code, code),
  fork: fc.constantFrom<EvmFork>(...evmForks),
  warm: fc.array(fc.record({ address, slots: fc.subarray(slots) }), { maxLength: 3 }),
})
type AnyWorld = typeof anyWorld extends fc.Arbitrary<infer T> ? T : never

function viewOf({ codes }: AnyWorld): StateView {
  const storage = { '0x0': '0x2', '0x1': '0x1' }
  return createWorld({
    ...Object.fromEntries(contracts.map((of, i) => [of, testAccount({ nonce: '0x1', balance: '0x3', code: codes[i] ?? '0x', storage: i < 2 ? storage : {} })])), // biome-ignore format: one line
    [rich]: testAccount({ nonce: '0x5', balance: '0xffffffffffffffffffff' }),
    [addressOf(0x32)]: testAccount({ balance: '0x1', storage }),
    [addressOf(0x33)]: testAccount({}),
  }).view
}

/** View that throws MissingState at the first read of each item. */
function missingAtFirst(view: StateView): StateView {
  const seen = new Set<string>()
  const once = (name: string): void => {
    if (seen.has(name)) return
    seen.add(name)
    throw new MissingState({ kind: 'blockHash', number: 0 })
  }
  return {
    account(key): ReturnType<StateView['account']> {
      once(toHex(key))
      return view.account(key)
    },
    slot(key, slot): ReturnType<StateView['slot']> {
      once(`${toHex(key)}${toHex(slot)}`)
      return view.slot(key, slot)
    },
    code(hash): Uint8Array {
      once(hash)
      return view.code(hash)
    },
    blockHash(number): Hash | undefined {
      once(`${number}`)
      return view.blockHash(number)
    },
  }
}

/** Repeats a call, or `again` in its place, until no state is missing. */
function untilPresent<T>(ask: () => T, again = ask): T {
  for (let next = ask; ; next = again) {
    try {
      return next()
    } catch (error) {
      if (!(error instanceof MissingState)) throw error
    }
  }
}

const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}` : part instanceof Uint8Array ? toHex(part) : part)) ?? 'null',
  )

/** Runs the steps on a session. @returns every visible result, in order */
function trail(session: EvmSession, { warm }: AnyWorld, steps: readonly Step[]): unknown[] {
  const seen: unknown[] = []
  let checkpoints: number[] = []
  const look = (): void => {
    seen.push(addresses.map((of) => untilPresent(() => session.account(of))))
    seen.push(addresses.map((of) => slots.map((slot) => untilPresent(() => session.slot(of, slot)))))
  }
  const end = (): void => {
    session.endTransaction()
    checkpoints = []
    look()
  }
  const take = (one: Step): void => {
    switch (one.kind) {
      case 'add':
        untilPresent(() => session.addBalance(one.of, one.wei))
        return
      case 'take':
        if ((untilPresent(() => session.account(one.of))?.balance ?? 0n) >= one.wei) session.subtractBalance(one.of, one.wei)
        return
      case 'nonce':
        untilPresent(() => session.setNonce(one.of, one.nonce))
        return
      case 'code':
        untilPresent(() => session.setCode(one.of, fromHex(one.code)))
        return
      case 'checkpoint':
        checkpoints.push(session.checkpoint())
        return
      case 'revert': {
        const to = checkpoints[one.to % checkpoints.length]
        if (to === undefined) return
        checkpoints.length = one.to % checkpoints.length
        session.revertTo(to)
        look()
        return
      }
      case 'end':
        end()
        return
      case 'diff':
        seen.push(toHex(new Uint8Array(session.diff().bytes)))
        return
      case 'run': {
        untilPresent(() => session.beginTransaction({ origin: rich, gasPrice: 1n, blobHashes: [], warm }))
        const message = { caller: rich, to: one.to, value: one.value, data: fromHex(one.data), gas: one.gas }
        const outcome = untilPresent(
          () => session.run(message),
          () => session.resume(),
        )
        seen.push(plain(outcome.kind === 'halt' ? { ...outcome, reason: 'any' } : outcome))
        end()
      }
    }
  }
  for (const one of steps) take(one)
  end()
  seen.push(toHex(new Uint8Array(session.diff().bytes)))
  return seen
}

const rulesOf = Object.fromEntries(evmForks.map((fork) => [fork, plainRules(fork)])) as Readonly<Record<EvmFork, EvmRules>>
const reference = createReferenceEvm()
const wasm = createWasmEvm()

it('evm: ends sessions of several transactions with checkpoints equally on both interpreters, with any missing state', () => {
  const sessions = fc.array(fc.array(step, { minLength: 1, maxLength: 14 }), { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(anyWorld, sessions, (world, all) => {
      const view = viewOf(world)
      const lacking = missingAtFirst(view)
      const rules = rulesOf[world.fork]
      // later sessions use the interpreter's cache of the view
      for (const steps of all) {
        using expected = reference.open(view, testBlock, rules)
        using session = wasm.open(view, testBlock, rules)
        using interrupted = wasm.open(lacking, testBlock, rules)
        const known = trail(expected, world, steps)
        expect(trail(session, world, steps)).toEqual(known)
        expect(trail(interrupted, world, steps)).toEqual(known)
      }
    }),
    { numRuns: Number(process.env['EVM_SESSIONS'] ?? 150) },
  )
})
