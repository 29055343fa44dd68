import { startAnvilL1 } from '#devnet/anvil'
import { systemClock } from '#lib/clock'
import { devnetL1Contract } from '../contract/devnetL1.ts'
import { devnetL1Options } from '../harness/l1/devnetL1.ts'

devnetL1Contract('anvil', () => startAnvilL1({ fetch, clock: systemClock }, devnetL1Options))
