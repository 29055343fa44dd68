import { z } from 'zod'
import { chainFault } from './faults.ts'
import type { ForkSchedule } from './forks.ts'

/** EIP-1559 parameters of the chain, used when the system config has none. */
export type Eip1559Params = { readonly elasticity: number; readonly denominator: number; readonly denominatorCanyon: number }

/** Schema of `chain_op_config` in rollup.json and of `optimism` in the config of a genesis file. */
export const eip1559Schema = z.strictObject({
  eip1559Elasticity: z.int().positive(),
  eip1559Denominator: z.int().positive(),
  eip1559DenominatorCanyon: z.int().positive().nullish(),
})

/** Converts parsed parameters. @throws Fault INVALID_CONFIG (fatal) when Canyon is scheduled but its denominator is missing */
export function eip1559From(json: z.output<typeof eip1559Schema>, schedule: ForkSchedule, what: string, key: string): Eip1559Params {
  const { eip1559Elasticity: elasticity, eip1559Denominator: denominator, eip1559DenominatorCanyon: canyon } = json
  if (canyon == null && schedule.canyon !== undefined) {
    const expected = 'a value of type number: Canyon is planned'
    throw chainFault('INVALID_CONFIG', { what, key: `${key}.eip1559DenominatorCanyon`, expected, found: 'missing' })
  }
  return { elasticity, denominator, denominatorCanyon: canyon ?? denominator }
}
