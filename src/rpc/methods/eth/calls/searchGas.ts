import type { MeasuredCall } from '../../../callPorts.ts'

/** An estimate may be above the least gas by this share of it: further runs cost more than they tell. */
const toleratedShare = 0.015
/** Gas that a call with value gives the callee on top. */
const callStipend = 2_300n

/**
 * Finds a gas limit that is enough, near the least one. A transaction may need more than it uses: refunds come at the end, and each call
 * keeps a 64th back (EIP-150).
 * @param first what became of the message with `most` gas: it succeeded
 * @param run the message with another gas limit
 */
export async function searchGas(first: MeasuredCall, most: bigint, run: (gasLimit: bigint) => Promise<MeasuredCall>): Promise<bigint> {
  let enough = most
  let tooLittle = first.gasUsed - 1n
  let { gasUsed } = first
  const narrow = async (gasLimit: bigint): Promise<void> => {
    const tried = await run(gasLimit)
    if (tried.gasUsed > 0n) gasUsed = tried.gasUsed
    if (tried.outcome.kind === 'success') enough = gasLimit
    else tooLittle = gasLimit
  }
  const hopeful = ((gasUsed + first.gasRefunded + callStipend) * 64n) / 63n
  if (hopeful < enough) await narrow(hopeful)
  for (let isFirst = true; tooLittle + 1n < enough && Number(enough - tooLittle) / Number(enough) >= toleratedShare; isFirst = false) {
    const middle = (enough + tooLittle) / 2n
    await narrow(isFirst && gasUsed * 3n < middle ? gasUsed * 3n : middle)
  }
  return enough
}
