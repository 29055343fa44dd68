/** Cost of the reads in one turn of the event loop, in headers: reading one takes some microseconds. */
export const sliceCost = 1_024
/** Cost of the receipts of a block, in headers. */
export const receiptsCost = 64
