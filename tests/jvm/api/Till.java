package told;

/** What probes are put into. */
public class Till {
    private int sold;

    /** Throws where four are wanted. */
    public int sell(int items, String customer) {
        if (items == 4) {
            throw new IllegalStateException("four are too many");
        }
        sold += items;
        return sold + (customer == null ? 0 : customer.length());
    }
}
