// A process with an L1 by anvil. It prints the URL and runs until it is killed.
import { startAnvilL1 } from '#devnet/anvil'
import { systemClock } from '#lib/clock'
import { devnetL1Options } from '../l1/devnetL1.ts'

const l1 = await startAnvilL1({ fetch, clock: systemClock }, devnetL1Options)
process.stdout.write(`${l1.rpcUrl}\n`)
await new Promise(() => {
  process.stdin.resume()
})
