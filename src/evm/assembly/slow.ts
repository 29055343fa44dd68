import { log } from './effects'
import * as environment from './environment'
import { goOn } from './internal'
import { givesOf, rowOf, takesOf } from './opcodes'
import { tstore } from './storage'

/** Returns the bytes of stack by which an opcode shrinks the stack. */
export function droppedBy(opcode: u32): usize {
  const row = rowOf(opcode)
  return <usize>(takesOf(row) - givesOf(row)) << 5
}

/**
 * Executes the opcodes that are slow enough for another dispatch to add no measurable cost. Gas is in the context. @returns `goOn`, how the frame
 * ends, or an exit
 */
export function operate(opcode: u32, frame: usize, sp: usize): i32 {
  switch (opcode) {
    case 0x31:
      return environment.balance(sp)
    case 0x37:
      return environment.calldatacopy(frame, sp)
    case 0x39:
      return environment.codecopy(frame, sp)
    case 0x3b:
      return environment.extcodesize(sp)
    case 0x3c:
      return environment.extcodecopy(frame, sp)
    case 0x3e:
      return environment.returndatacopy(frame, sp)
    case 0x3f:
      return environment.extcodehash(sp)
    case 0x40:
      return environment.blockhash(sp)
    case 0x5d:
      return tstore(frame, sp)
    case 0x5e:
      return environment.mcopy(frame, sp)
  }
  return opcode >= 0xa0 ? log(frame, sp, opcode - 0xa0) : goOn
}
