import { expect, it } from 'vitest'
import type { ParentBlock } from '#block/execution/executeBlock'
import { type Evm, MissingState } from '#evm/ports'
import { createWasmEvm } from '#evm/wasmEvm'
import type { CallMessage } from '#rpc/callPorts'
import { genesisState } from '#state/genesisState'
import { hashOf, scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { headerOf } from '#test/harness/chain/headers'
import { createManualClock } from '#test/harness/clock'
import { testAccount, testAddress } from '#test/harness/evm/sessions'
import { createReferenceEvm } from '#test/reference/referenceEvm'
import { runCall } from './callExecutor.ts'
import { createCallTimer, OutOfTime } from './callTimer.ts'

const megagas = 1_000_000

it('simulation/call/callTimer: begins a piece that ends in time, or at most ten milliseconds late at 30 ns per gas', async () => {
  const clock = createManualClock()
  const timer = createCallTimer(clock, 5_000)
  await clock.advanceMs(4_979)
  expect(() => timer()(megagas)).not.toThrow()
})

it.each([
  ['of the interpreter that would end too late', 4_981, megagas],
  ['of a precompile that would end too late, long before the end', 600, 147.1 * megagas],
  ['without gas after the end', 5_000, 0],
])('simulation/call/callTimer: does not begin a piece %s', async (_what, ms, gas) => {
  const clock = createManualClock()
  const timer = createCallTimer(clock, 5_000)
  await clock.advanceMs(ms)
  expect(() => timer()(gas)).toThrow(OutOfTime)
})

it('simulation/call/callTimer: expects later pieces to be as slow as an earlier one', async () => {
  const clock = createManualClock()
  const timer = createCallTimer(clock, 5_000)
  const first = timer()
  first(megagas)
  await clock.advanceMs(400)
  first(0)
  await clock.advanceMs(4_209)
  expect(() => timer()(megagas)).not.toThrow()
  await clock.advanceMs(2)
  expect(() => timer()(megagas)).toThrow(OutOfTime)
})

it('simulation/call/callTimer: shares the time of a request among its messages, and counts no time between them as a piece', async () => {
  const clock = createManualClock()
  const timer = createCallTimer(clock, 5_000)
  timer()(megagas)
  await clock.advanceMs(4_970)
  expect(() => timer()(megagas)).not.toThrow()
  await clock.advanceMs(30)
  expect(() => timer()(0)).toThrow(OutOfTime)
})

it('simulation/call/callTimer: has no limit with a time-out of 0', async () => {
  const clock = createManualClock()
  const [unlimited, limited] = [createCallTimer(clock, 0)(), createCallTimer(clock, 2e9)()]
  await clock.advanceMs(1e9)
  expect(() => limited(1e15)).toThrow(OutOfTime)
  expect(unlimited(1e15)).toBeUndefined()
  await clock.advanceMs(1e9)
  expect(() => limited(0)).toThrow(OutOfTime)
  expect(unlimited(0)).toBeUndefined()
})

const endless = testAddress(0xc0)
const small = testAddress(0xc1)
const config = { ...smallChain(scheduleTo('jovian')).config, l2ChainId: 901 } as unknown as Parameters<typeof runCall>[0]['config']
const header = headerOf({ number: 77, timestamp: 1_900_000_000, baseFeePerGas: 1_000n })
// JUMPDEST, PUSH0, JUMP; and code that writes its slot 0 and returns it
const accounts = [
  testAccount(endless, { code: '0x60076000555b600556' }),
  testAccount(small, { code: '0x60005460005260016000556020 6000f3'.replace(' ', '') }),
]
const at: ParentBlock = { header, hash: hashOf('block 77'), state: genesisState(accounts).state }
const message: CallMessage = {
  ...{ from: testAddress(0xa1), to: endless, value: 0n, data: new Uint8Array(0), gasLimit: 50_000_000n },
  ...{ gasPrice: 0n, accessList: [], authorizationList: [] },
}

it.each([
  ['reference', createReferenceEvm],
  ['wasm', () => createWasmEvm()],
] as const)(
  'simulation/call/callExecutor: times out a message without time left on the %s interpreter, without effect on the next message',
  (_name, create) => {
    const evm = create()
    let pieces = 0
    // each reading of the clock takes a millisecond: one before the request, one before each piece
    const timer = createCallTimer({ elapsedMs: () => pieces++ }, 40)
    const outcome = runCall({ evm, config, timer }, at, message)
    expect(outcome).toEqual({ outcome: { kind: 'timeout', timeoutMs: 40 }, gasUsed: 0n, gasRefunded: 0n })
    expect(pieces).toBeGreaterThan(20)
    expect(pieces).toBeLessThan(60)
    const next = runCall({ evm, config, timer: createCallTimer(createManualClock(), 5_000) }, at, { ...message, to: small }).outcome
    expect(next).toEqual({ kind: 'success', output: new Uint8Array(32) })
  },
)

it('simulation/call/callExecutor: does not report an error of the state view as a time-out', () => {
  const missing = new MissingState({ kind: 'blockHash', number: 1 })
  const evm: Evm = {
    open() {
      throw missing
    },
  }
  expect(() => runCall({ evm, config, timer: createCallTimer(createManualClock(), 1) }, at, message).outcome).toThrow(missing)
})
