import { z } from 'zod'
import { chainFault } from './faults.ts'
import type { ForkSchedule } from './forks.ts'

/** EIP-1559 parameters of the chain itself, where the system config says nothing. */
export type Eip1559Params = { readonly elasticity: number; readonly denominator: number; readonly denominatorCanyon: number }

/** `chain_op_config` of a rollup.json, `optimism` in the config of a genesis file. */
export const eip1559Schema = z.strictObject({
  eip1559Elasticity: z.int().positive(),
  eip1559Denominator: z.int().positive(),
  eip1559DenominatorCanyon: z.int().positive().nullish(),
})

/** @throws Fault INVALID_CONFIG (fatal) when Canyon is planned without its denominator */
export function eip1559From(json: z.output<typeof eip1559Schema>, schedule: ForkSchedule, what: string, key: string): Eip1559Params {
  const { eip1559Elasticity: elasticity, eip1559Denominator: denominator, eip1559DenominatorCanyon: canyon } = json
  if (canyon == null && schedule.canyon !== undefined) {
    const expected = 'a value of type number: Canyon is planned'
    throw chainFault('INVALID_CONFIG', { what, key: `${key}.eip1559DenominatorCanyon`, expected, found: 'missing' })
  }
  return { elasticity, denominator, denominatorCanyon: canyon ?? denominator }
}
