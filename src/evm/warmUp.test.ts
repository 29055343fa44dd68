import { expect, it } from 'vitest'
import { createReferenceEvm } from '#test/reference/referenceEvm'
import type { Evm, Outcome } from './ports.ts'
import { warmUp } from './warmUp.ts'
import { createWasmEvm } from './wasmEvm.ts'

/** Runs the warm-up. @returns the outcomes of its messages and the number of slots its sessions changed */
function ranOn(evm: Evm): { readonly outcomes: readonly Outcome[]; readonly slots: number } {
  const outcomes: Outcome[] = []
  let slots = 0
  warmUp({
    open(...args) {
      const session = evm.open(...args)
      const run = session.run.bind(session)
      session.run = (...message) => {
        const outcome = run(...message)
        outcomes.push(outcome)
        slots += [...session.diff().slots()].length
        return outcome
      }
      return session
    },
  })
  return { outcomes, slots }
}

it('the warm-up calls and stores thousands of times with the same outcome on both interpreters', () => {
  const warmed = ranOn(createWasmEvm())
  expect(warmed).toMatchObject({ outcomes: [{ kind: 'success' }], slots: 256 })
  expect(warmed).toEqual(ranOn(createReferenceEvm()))
})
