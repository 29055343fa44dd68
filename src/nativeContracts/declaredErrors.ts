import { toHex } from '#lib/hex'
import { errorDeclaration } from './kit/ends.ts'
// loads every contract, and with it the declarations
import './run.ts'

/** Returns the declaration of the contract error in revert data, such as `InvalidReceiver(address)`; undefined: it is none of these contracts'. */
export const declaredError = (data: Uint8Array): string | undefined => errorDeclaration(toHex(data.subarray(0, 4)))
